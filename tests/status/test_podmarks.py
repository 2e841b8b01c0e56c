import msgspec

from quorate.api.core import Pod
from quorate.api.meta import Condition, ObjectMeta
from quorate.api.podgroup import PodGroup, PodGroupSpec, PodGroupStatus, SchedulingCondition, SubGroup
from quorate.api.podspec import PodSpec, SchedulingGate
from quorate.status.podmarks import Mark, lost, marks

NOW = 1_000_000.0
FULL = SchedulingCondition(reason="OverCapacity", message="no node has room")


def gang(*refusals: SchedulingCondition, **spec: object) -> PodGroup:
    status = PodGroupStatus(scheduling_conditions=list(refusals) or None)
    return PodGroup(spec=PodGroupSpec(**spec), status=status)  # type: ignore[arg-type]  # any field of the spec


def pod(name: str = "p", *, node: str = "", **labels: str) -> Pod:
    return Pod(metadata=ObjectMeta(name=name, labels=labels), spec=PodSpec(node_name=node))


def told(mark: Mark) -> Condition:
    (found,) = (one for one in mark.change.status["conditions"] if one["type"] == "PodScheduled")
    return msgspec.convert(found, Condition)


def test_who_waits_is_told_why_his_gang_does() -> None:
    (mark,) = marks(gang(FULL), [pod(), pod("bound", node="n")], NOW)
    assert (mark.change.target.name, mark.is_first) == ("p", True)
    condition = told(mark)
    assert (condition.status, condition.reason, condition.message) == (
        "False",
        "Unschedulable",
        "no node has room",
    )


def test_who_shows_it_already_is_left_alone_and_other_words_are_no_first_mark() -> None:
    waiting = pod()
    (mark,) = marks(gang(FULL), [waiting], NOW)
    waiting.status.conditions = [Condition(type="Other"), told(mark)]
    assert list(marks(gang(FULL), [waiting], NOW + 9)) == []
    reworded = msgspec.structs.replace(FULL, message="another node has no room")
    (again,) = marks(gang(reworded), [waiting], NOW + 9)
    assert not again.is_first
    assert told(again).last_transition_time == told(mark).last_transition_time
    assert [one["type"] for one in again.change.status["conditions"]] == ["Other", "PodScheduled"]


def test_a_pod_of_no_group_is_told_which_there_are() -> None:
    tree = gang(sub_groups=[SubGroup(name="a", min_member=1)])
    (mark,) = marks(tree, [pod()], NOW)
    assert told(mark).message == "label kai.scheduler/subgroup-name is missing: set it to one of a"


def test_who_names_a_gang_that_is_not_there_is_told() -> None:
    waiting = pod()
    waiting.metadata.namespace, waiting.metadata.annotations = "team", {"pod-group-name": "gone"}
    (mark,) = lost([waiting, pod("bound", node="n")], NOW)
    assert told(mark).message.startswith("PodGroup team/gone does not exist: create it, or name another")


def test_a_gang_that_is_no_tree_tells_its_pods() -> None:
    broken = gang(sub_groups=[SubGroup(name="a", parent="a", min_member=1)])
    (mark,) = marks(broken, [pod()], NOW)
    assert "cycle detected in subgroups" in told(mark).message


def test_nobody_is_told_where_the_gang_does_not_want_it_or_a_gate_does_not_let_it() -> None:
    assert list(marks(gang(FULL, mark_unschedulable=False), [pod()], NOW)) == []
    gated = Pod(spec=PodSpec(scheduling_gates=[SchedulingGate(name="later")]))
    assert list(marks(gang(FULL), [gated], NOW)) == []
    assert list(marks(gang(), [pod()], NOW)) == []
