from typing import Any

from quorate.workloads.builtin.instants import rfc3339
from quorate.workloads.builtin.nodehealth import evict_at, healthy, judge

_NOW = 1_767_225_600.0
_TAINT = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "timeAdded": rfc3339(_NOW)}


def test_a_node_with_a_fresh_heartbeat_is_left_alone() -> None:
    assert judge(_node(), _NOW - 20, _NOW) == (None, [])


def test_a_silent_node_is_unknown_and_tainted_once() -> None:
    verdict = judge(_node(), _NOW - 60, _NOW)
    assert verdict.conditions is not None
    again = {**_node(), "spec": {"taints": verdict.taints}, "status": {"conditions": verdict.conditions}}
    assert judge(again, _NOW - 65, _NOW + 5) == (None, verdict.taints)
    assert [taint["effect"] for taint in verdict.taints] == ["NoSchedule", "NoExecute"]


def test_a_cordoned_node_is_tainted_and_foreign_taints_stay() -> None:
    foreign = {"key": "team", "effect": "NoSchedule"}
    node = {**_node(), "spec": {"unschedulable": True, "taints": [foreign]}}
    taints = judge(node, _NOW, _NOW).taints
    assert taints[0] == foreign
    assert taints[1]["key"] == "node.kubernetes.io/unschedulable"


def test_toleration_decides_when_a_pod_leaves() -> None:
    tolerated = {"key": _TAINT["key"], "operator": "Exists", "effect": "NoExecute"}
    assert evict_at(_pod(), [_TAINT], _NOW) == _NOW
    assert evict_at(_pod({**tolerated, "tolerationSeconds": 300}), [_TAINT], _NOW) == _NOW + 300
    assert evict_at(_pod(tolerated), [_TAINT], _NOW) is None
    assert evict_at(_pod(), [{"key": "x", "effect": "NoSchedule"}], _NOW) is None


def _node() -> dict[str, Any]:
    meta = {"name": "n", "creationTimestamp": rfc3339(_NOW - 1000)}
    return {"metadata": meta, "spec": {}, "status": {"conditions": healthy([], _NOW - 1000)}}


def _pod(*tolerations: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"tolerations": list(tolerations)}}
