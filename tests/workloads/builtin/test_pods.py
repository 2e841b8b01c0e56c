from typing import Any

from quorate.workloads.builtin.pods import deletion_order, is_active, is_available, next_available

_NOW = 1_767_225_600.0


def test_deletion_order_goes_from_least_to_most_valuable() -> None:
    unbound = _pod("unbound", node="")
    pending = _pod("pending", phase="Pending", ready=None)
    unready = _pod("unready", ready=None)
    cheap = _pod("cheap", cost="-1")
    young = _pod("young", ready="2025-12-31T23:59:00Z")
    old = _pod("old", ready="2025-12-01T00:00:00Z")
    order = deletion_order([old, young, cheap, unready, pending, unbound], {}, _NOW)
    names = [pod["metadata"]["name"] for pod in order]
    assert names == ["unbound", "pending", "unready", "cheap", "young", "old"]


def test_a_crowded_node_gives_up_its_pods_first() -> None:
    lonely, crowded = _pod("lonely", node="a"), _pod("crowded", node="b")
    order = deletion_order([lonely, crowded], {"a": 1, "b": 2}, _NOW)
    assert order[0] is crowded


def test_availability_waits_for_min_ready_seconds() -> None:
    pod = _pod("p", ready="2025-12-31T23:59:50Z")
    assert is_available(pod, 0, _NOW)
    assert not is_available(pod, 30, _NOW)
    assert next_available([pod], 30, _NOW) == _NOW + 20


def test_finished_and_deleted_pods_are_not_active() -> None:
    deleted = _pod("p")
    deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert not is_active(deleted)
    assert not is_active(_pod("p", phase="Succeeded"))


def _pod(
    name: str,
    *,
    node: str = "n",
    phase: str = "Running",
    ready: str | None = "2025-12-01T00:00:00Z",
    cost: str = "0",
) -> dict[str, Any]:
    notes = {"controller.kubernetes.io/pod-deletion-cost": cost}
    condition = {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": ready}
    return {
        "metadata": {"name": name, "uid": name, "annotations": notes},
        "spec": {"nodeName": node},
        "status": {"phase": phase, "conditions": [condition]},
    }
