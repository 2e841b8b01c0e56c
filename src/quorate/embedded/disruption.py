"""Whether the disruption budgets let a pod be evicted, in the API server's words, and what that costs a budget.

`eviction.py` calls `spend` before it deletes; `builtins/services.py` keeps the budgets' status up to date.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from quorate.api.meta import Json
from quorate.embedded import errors
from quorate.embedded.objectmeta import timestamp
from quorate.embedded.options import Options
from quorate.embedded.updating import Target, change
from quorate.workloads.builtin.conditions import find
from quorate.workloads.builtin.outcome import is_deleting
from quorate.workloads.builtin.pods import is_finished, is_ready, phase
from quorate.workloads.builtin.selection import matches

if TYPE_CHECKING:
    from quorate.embedded.apiserver import ApiServer

_VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget."
_MOST_DISRUPTED = 2000


class Charge(NamedTuple):
    """The budget that pays for an eviction, and its status afterwards."""

    budget: Json
    status: Json


async def spend(server: "ApiServer", pod: Json, *, dry_run: bool = False) -> None:
    """Refuse the eviction with 429, or note it in the budget that covers the pod."""
    namespace = pod["metadata"]["namespace"]
    budgets = server.store.list("policy", "poddisruptionbudgets", namespace)
    charge = check_eviction(pod, budgets, timestamp(server.now()))
    if charge is None or dry_run:
        return
    resource = server.resource("policy", "v1", "poddisruptionbudgets")
    target = Target(resource, namespace, charge.budget["metadata"]["name"], "status")
    # The budget may have changed while an admission webhook was asked, so it is checked again as it is now.
    await change(server, target, lambda stored: _charged(pod, stored, timestamp(server.now())), Options())


def check_eviction(pod: Json, budgets: Sequence[Json], at: str) -> Charge | None:
    """The budget to charge, `None` if the pod may go without one; raises ApiError when it may not go."""
    if is_finished(pod) or phase(pod) == "Pending" or is_deleting(pod):
        return None
    labels = pod["metadata"].get("labels")
    covering = [budget for budget in budgets if matches(budget["spec"].get("selector"), labels)]
    if not covering:
        return None
    if len(covering) > 1:
        raise errors.failure(
            500,
            "InternalError",
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        )
    return _asked(pod, covering[0], at)


def _asked(pod: Json, budget: Json, at: str) -> Charge | None:
    status, spec = budget.get("status", {}), budget["spec"]
    if not is_ready(pod):
        healthy, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
        if spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow" or (healthy >= desired > 0):
            return None
    return Charge(budget, _paid(pod, budget, at))


def _charged(pod: Json, budget: Json, at: str) -> Json:
    return {**budget, "status": _paid(pod, budget, at)}


def _paid(pod: Json, budget: Json, at: str) -> Json:
    """The budget's status with one disruption less."""
    meta, status = budget["metadata"], budget.get("status", {})
    if status.get("observedGeneration", 0) < meta.get("generation", 0):
        text = f"The disruption budget {meta['name']} is still being processed by the server."
        raise _refused(text, retry_after_seconds=10)
    disrupted = status.get("disruptedPods") or {}
    if len(disrupted) > _MOST_DISRUPTED:
        raise _forbidden(meta["name"], "DisruptedPods map too big - too many evictions not confirmed")
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        raise _forbidden(meta["name"], "pdb disruptions allowed is negative")
    if not allowed:
        raise _refused(_shortage(budget))
    name = pod["metadata"]["name"]
    return {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": {**disrupted, name: at}}


def _shortage(budget: Json) -> str:
    name, status = budget["metadata"]["name"], budget.get("status", {})
    failed = find(status.get("conditions"), "DisruptionAllowed")
    if failed is not None and failed["status"] == "False" and failed.get("reason") == "SyncFailed":
        why = failed.get("message", "")
        return f"The disruption budget {name} does not allow evicting pods currently because it failed sync: {why}"
    desired, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    return f"The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"


def _refused(text: str, *, retry_after_seconds: int = 0) -> errors.ApiError:
    cause = {"reason": "DisruptionBudget", "message": text}
    return errors.too_many_requests(_VIOLATION, retry_after_seconds, [cause])


class _Budgets(NamedTuple):
    group: str = "policy"
    kind: str = "PodDisruptionBudget"
    plural: str = "poddisruptionbudgets"


def _forbidden(name: str, why: str) -> errors.ApiError:
    return errors.forbidden(_Budgets(), name, why)
