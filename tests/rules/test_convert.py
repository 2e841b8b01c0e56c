import pytest

from quorate.api.meta import Json
from quorate.rules.convert import NotConvertibleError, from_semantic_min_member


def podgroup(**spec: object) -> Json:
    return {"kind": "PodGroup", "metadata": {"name": "x"}, "spec": spec}


def test_minimums_of_inner_groups_become_counts_of_children() -> None:
    converted = from_semantic_min_member(
        podgroup(
            minMember=2,
            queue="q",
            subGroups=[
                {"name": "prefill", "minMember": 3},
                {"name": "prefill-0", "parent": "prefill", "minMember": 8},
                {"name": "decode", "minMember": 4},
            ],
        )
    )
    assert converted["spec"] == {
        "minSubGroup": 2,
        "queue": "q",
        "subGroups": [
            {"name": "prefill", "minSubGroup": 3},
            {"name": "prefill-0", "parent": "prefill", "minMember": 8},
            {"name": "decode", "minMember": 4},
        ],
    }


def test_flat_podgroups_and_other_kinds_stay_as_they_are() -> None:
    flat = podgroup(minMember=3)
    assert from_semantic_min_member(flat) is flat
    job: Json = {"kind": "Job", "spec": {"parallelism": 3}}
    assert from_semantic_min_member(job) is job


def test_both_minimums_on_one_group_are_not_guessed_at() -> None:
    with pytest.raises(
        NotConvertibleError, match=r"spec\.subGroups\[0\]: minSubGroup is set beside minMember"
    ):
        from_semantic_min_member(
            podgroup(
                subGroups=[
                    {"name": "a", "minMember": 2, "minSubGroup": 1},
                    {"name": "a-0", "parent": "a", "minMember": 1},
                ]
            )
        )


@pytest.mark.parametrize("spec", [7, {"subGroups": 7}, {"subGroups": ["a"]}])
def test_what_is_no_podgroup_at_all_is_named(spec: object) -> None:
    with pytest.raises(NotConvertibleError, match=r"spec\.subGroups must be a list of objects"):
        from_semantic_min_member({"kind": "PodGroup", "spec": spec})
