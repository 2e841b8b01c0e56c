from typing import Any

import pytest

from quorate.workloads.builtin.budget import budget

_NOW = 1_767_225_600.0


@pytest.mark.parametrize(
    ("spec", "ready", "scale", "allowed"),
    [
        ({"minAvailable": 2}, 3, 3, 1),
        ({"minAvailable": "50%"}, 4, 5, 1),
        ({"maxUnavailable": 1}, 5, 5, 1),
        ({"maxUnavailable": "30%"}, 10, 10, 3),
        ({"maxUnavailable": 1}, 3, 5, 0),
        ({"minAvailable": 5}, 3, 3, 0),
    ],
)
def test_allowed_disruptions(spec: dict[str, Any], ready: int, scale: int, allowed: int) -> None:
    status = budget(_budget(spec), [_pod(f"p{place}") for place in range(ready)], scale, _NOW).status
    assert status is not None
    assert status["disruptionsAllowed"] == allowed


def test_an_evicted_pod_counts_as_gone_until_its_deletion_shows() -> None:
    item = _budget({"minAvailable": 1})
    item["status"] = {"disruptedPods": {"p0": "2026-01-01T00:00:00Z"}}
    pods = [_pod("p0"), _pod("p1")]
    found = budget(item, pods, 2, _NOW)
    assert found.status is not None
    assert (found.status["currentHealthy"], found.status["disruptionsAllowed"]) == (1, 0)
    assert found.wake == _NOW + 120
    later = budget(item, pods, 2, _NOW + 121)
    assert later.status is not None
    assert later.status["disruptionsAllowed"] == 1


def test_a_count_needs_no_scale() -> None:
    found = budget(_budget({"minAvailable": 1}), [_pod("p0"), _pod("p1")], "unknown", _NOW)
    assert found.status is not None
    assert found.status["disruptionsAllowed"] == 1


def _budget(spec: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "b", "generation": 1}, "spec": spec}


def _pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
