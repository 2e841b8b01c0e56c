from quorate.workloads.builtin.hashing import template_hash


def test_equal_templates_hash_alike_whatever_their_key_order() -> None:
    assert template_hash({"a": 1, "b": 2}) == template_hash({"b": 2, "a": 1})
    assert template_hash({"a": 1}) != template_hash({"a": 2})


def test_a_collision_count_gives_another_name() -> None:
    assert template_hash({"a": 1}, 1) != template_hash({"a": 1})
