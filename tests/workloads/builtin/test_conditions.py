from quorate.workloads.builtin.conditions import find, is_true, put, without


def test_transition_time_moves_only_with_the_status() -> None:
    first = put([], {"type": "Ready", "status": "False", "reason": "A"}, "t1")
    second = put(first, {"type": "Ready", "status": "False", "reason": "B"}, "t2")
    third = put(second, {"type": "Ready", "status": "True"}, "t3")
    assert [found[0]["lastTransitionTime"] for found in (first, second, third)] == ["t1", "t1", "t3"]
    assert second[0]["reason"] == "B"
    assert is_true(third, "Ready")


def test_the_given_list_is_left_as_it_was() -> None:
    before = [{"type": "Ready", "status": "False"}]
    put(before, {"type": "Ready", "status": "True"}, "t")
    assert before == [{"type": "Ready", "status": "False"}]


def test_others_stay_in_place() -> None:
    both = [{"type": "A", "status": "True"}, {"type": "B", "status": "True"}]
    assert [item["type"] for item in put(both, {"type": "A", "status": "False"}, "t")] == ["A", "B"]
    assert without(both, "A") == both[1:]
    assert find(None, "A") is None
