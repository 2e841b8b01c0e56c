"""What the demo says in the end follows from the objects alone."""

from quorate.api.core import Pod
from quorate.api.labels import POD_GROUP_NAME
from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import Phase, PodGroup, PodGroupStatus
from quorate.api.podspec import PodSpec
from quorate.cli import board


def gang(name: str, phase: Phase) -> PodGroup:
    return PodGroup(metadata=ObjectMeta(name=name, namespace="n"), status=PodGroupStatus(phase=phase))


def member(gang: str, number: int, node: str) -> Pod:
    metadata = ObjectMeta(name=f"{gang}-{number}", namespace="n", annotations={POD_GROUP_NAME: gang})
    return Pod(metadata=metadata, spec=PodSpec(node_name=node))


def test_a_gang_that_waits_while_its_pods_hold_nodes_is_named() -> None:
    gangs = (gang("whole", "Running"), gang("part", "Pending"), gang("waiting", "Pending"))
    pods = (member("whole", 0, "node-0"), member("part", 0, "node-1"), member("waiting", 0, ""))
    seen = board.Seen(gangs, pods)
    assert board.started_in_part(seen) == ["part"]
    assert "2 of 3 pods have a node, by 0 bindings; in part only: part" in board.summary(seen, {})
