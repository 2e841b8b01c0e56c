from typing import Any

import pytest

from quorate.embedded.disruption import Charge, check_eviction
from quorate.embedded.errors import ApiError

_AT = "2026-01-01T00:00:00Z"


def test_an_allowed_eviction_is_charged() -> None:
    charge = check_eviction(_pod(), [_budget(allowed=2)], _AT)
    assert isinstance(charge, Charge)
    assert charge.status["disruptionsAllowed"] == 1
    assert charge.status["disruptedPods"] == {"web-0": _AT}


def test_an_exhausted_budget_refuses_with_its_numbers() -> None:
    with pytest.raises(ApiError) as caught:
        check_eviction(_pod(), [_budget(allowed=0)], _AT)
    assert caught.value.code == 429
    assert str(caught.value) == "Cannot evict pod as it would violate the pod's disruption budget."
    (cause,) = caught.value.status["details"]["causes"]
    assert cause["reason"] == "DisruptionBudget"
    assert cause["message"] == "The disruption budget web needs 3 healthy pods and has 3 currently"


def test_a_budget_not_yet_counted_asks_to_come_back() -> None:
    with pytest.raises(ApiError) as caught:
        check_eviction(_pod(), [_budget(allowed=2, observed=0)], _AT)
    assert caught.value.status["details"]["retryAfterSeconds"] == 10
    (cause,) = caught.value.status["details"]["causes"]
    assert cause["message"] == "The disruption budget web is still being processed by the server."


def test_two_budgets_are_an_error() -> None:
    with pytest.raises(ApiError) as caught:
        check_eviction(_pod(), [_budget(allowed=2), _budget(allowed=2)], _AT)
    assert caught.value.code == 500
    assert "more than one PodDisruptionBudget" in str(caught.value)


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_pods_that_do_not_run_need_no_budget(phase: str) -> None:
    assert check_eviction(_pod(phase=phase), [_budget(allowed=0)], _AT) is None


def test_an_unready_pod_may_go_while_the_healthy_suffice() -> None:
    assert check_eviction(_pod(ready="False"), [_budget(allowed=0)], _AT) is None


def test_an_unready_pod_of_a_short_budget_may_go_only_if_always_allowed() -> None:
    short = _budget(allowed=0, healthy=2)
    with pytest.raises(ApiError):
        check_eviction(_pod(ready="False"), [short], _AT)
    short["spec"]["unhealthyPodEvictionPolicy"] = "AlwaysAllow"
    assert check_eviction(_pod(ready="False"), [short], _AT) is None


def test_a_pod_without_a_budget_may_go() -> None:
    other = _budget(allowed=0)
    other["spec"]["selector"] = {"matchLabels": {"app": "other"}}
    assert check_eviction(_pod(), [other], _AT) is None


def _pod(phase: str = "Running", ready: str = "True") -> dict[str, Any]:
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": ready}]}
    meta = {"name": "web-0", "namespace": "default", "labels": {"app": "web"}}
    return {"metadata": meta, "spec": {}, "status": status}


def _budget(*, allowed: int, healthy: int = 3, observed: int = 1) -> dict[str, Any]:
    status = {"disruptionsAllowed": allowed, "currentHealthy": healthy, "desiredHealthy": 3}
    return {
        "metadata": {"name": "web", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {**status, "observedGeneration": observed},
    }
