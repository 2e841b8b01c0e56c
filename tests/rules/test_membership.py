import pytest

from quorate.api.core import Pod, PodStatus
from quorate.api.labels import SUB_GROUP_NAME
from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import PodGroupSpec, SubGroup
from quorate.api.podspec import PodSpec
from quorate.rules.membership import MemberState, leaf_of, state_of, stray_text
from quorate.rules.tree import ROOT, from_spec

TREE = from_spec(
    PodGroupSpec(sub_groups=[SubGroup(name="inner"), SubGroup(name="leaf", parent="inner", min_member=1)])
)


def labelled(name: str | None) -> Pod:
    return Pod(metadata=ObjectMeta(labels=None if name is None else {SUB_GROUP_NAME: name}))


def test_a_member_names_a_leaf() -> None:
    assert leaf_of(TREE, labelled("leaf")) == "leaf"


@pytest.mark.parametrize("name", [None, "inner", "gone", ""])
def test_every_other_pod_is_a_stray_that_is_told_the_leaves(name: str | None) -> None:
    assert leaf_of(TREE, labelled(name)) is None
    assert stray_text(TREE, labelled(name)).endswith("set it to one of leaf")


def test_every_pod_of_a_flat_gang_is_a_member() -> None:
    assert leaf_of(from_spec(PodGroupSpec()), labelled("left over")) == ROOT


def test_a_pod_is_in_one_state() -> None:
    bound = PodSpec(node_name="n")
    leaving = ObjectMeta(deletion_timestamp="2026-01-01T00:00:00Z")
    found = [
        state_of(pod)
        for pod in (
            Pod(),
            Pod(spec=bound, status=PodStatus(phase="Pending")),
            Pod(spec=bound, status=PodStatus(phase="Running")),
            Pod(spec=bound, metadata=leaving, status=PodStatus(phase="Running")),
            Pod(metadata=leaving, status=PodStatus(phase="Succeeded")),
            Pod(status=PodStatus(phase="Failed")),
        )
    ]
    assert found == [
        MemberState.PENDING,
        MemberState.STARTING,
        MemberState.RUNNING,
        MemberState.STOPPING,
        MemberState.SUCCEEDED,
        MemberState.FAILED,
    ]
