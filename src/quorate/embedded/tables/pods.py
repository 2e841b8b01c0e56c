"""The rows of pods: what state a pod is really in, from its containers' states."""

from typing import NamedTuple

from quorate.api.meta import Json
from quorate.embedded.tables.age import since
from quorate.embedded.tables.printer import NAME, Cell, Printer, age, columns, condition_is_true, name, text

COLUMNS = columns(
    NAME, "Ready", "Status", "Restarts", "Age", "IP+", "Node+", "Nominated Node+", "Readiness Gates+"
)
_TERMINAL = frozenset(("Succeeded", "Failed"))


class _State(NamedTuple):
    reason: str
    ready: int = 0
    restarts: int = 0
    last_restart: str = ""


def pod(obj: Json, now: float) -> list[Cell]:
    spec, status = obj["spec"], obj.get("status") or {}
    sidecars = {
        one["name"] for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"
    }
    state = _state(obj, sidecars)
    total = len(spec.get("containers") or ()) + len(sidecars)
    restarts = str(state.restarts)
    if state.restarts and state.last_restart:
        restarts = f"{restarts} ({since(state.last_restart, now)} ago)"
    address = ((status.get("podIPs") or [{}])[0]).get("ip")
    return [
        name(obj),
        f"{state.ready}/{total}",
        _overall(obj, state.reason),
        restarts,
        age(obj, now),
        address or status.get("podIP") or "<none>",
        text(spec, "nodeName", absent="<none>"),
        text(status, "nominatedNodeName", absent="<none>"),
        _gates(spec, status),
    ]


def _overall(obj: Json, reason: str) -> str:
    if not obj["metadata"].get("deletionTimestamp"):
        return reason
    status = obj.get("status") or {}
    if status.get("reason") == "NodeLost":
        return "Unknown"
    return reason if status.get("phase") in _TERMINAL else "Terminating"


def _gates(spec: Json, status: Json) -> str:
    gates = spec.get("readinessGates") or ()
    if not gates:
        return "<none>"
    passed = sum(condition_is_true(status.get("conditions"), gate.get("conditionType", "")) for gate in gates)
    return f"{passed}/{len(gates)}"


def _state(obj: Json, sidecars: set[str]) -> _State:
    status = obj.get("status") or {}
    reason = status.get("reason") or status.get("phase") or ""
    conditions = status.get("conditions") or []
    if any(
        one.get("type") == "PodScheduled" and one.get("reason") == "SchedulingGated" for one in conditions
    ):
        reason = "SchedulingGated"
    ready, initializing, restarts = 0, False, _restarts(status.get("initContainerStatuses") or [], sidecars)
    for index, one in enumerate(status.get("initContainerStatuses") or ()):
        terminated = (one.get("state") or {}).get("terminated")
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if one["name"] in sidecars and one.get("started"):
            ready += bool(one.get("ready"))
            continue
        reason = _init_reason(one, index, len(obj["spec"].get("initContainers") or ()))
        initializing = True
        break
    if initializing and not condition_is_true(conditions, "Initialized"):
        return _State(reason, ready, *_restarts(status.get("initContainerStatuses") or [], None))
    return _running(status, _State(reason, ready, *restarts))


def _init_reason(container: Json, index: int, total: int) -> str:
    state = container.get("state") or {}
    terminated, waiting = state.get("terminated"), state.get("waiting") or {}
    if terminated is not None:
        return f"Init:{_end(terminated)}"
    if waiting.get("reason") and waiting["reason"] != "PodInitializing":
        return f"Init:{waiting['reason']}"
    return f"Init:{index}/{total}"


def _end(terminated: Json) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    signal = terminated.get("signal")
    return f"Signal:{signal}" if signal else f"ExitCode:{terminated.get('exitCode', 0)}"


def _running(status: Json, so_far: _State) -> _State:
    reason, ready, error, running = so_far.reason, so_far.ready, "", False
    containers = status.get("containerStatuses") or []
    for one in reversed(containers):
        state = one.get("state") or {}
        waiting, terminated = state.get("waiting") or {}, state.get("terminated")
        if waiting.get("reason"):
            reason = waiting["reason"]
        elif terminated is not None:
            reason = _end(terminated)
            error = reason if terminated.get("exitCode") else error
        elif one.get("ready") and state.get("running") is not None:
            running = True
            ready += 1
    if reason == "Completed":
        if running and condition_is_true(status.get("conditions"), "Ready"):
            reason = "Running"
        elif error or running:
            reason = error or "NotReady"
    more, last = _restarts(containers, None)
    return _State(reason, ready, so_far.restarts + more, max(so_far.last_restart, last))


def _restarts(containers: list[Json], only: set[str] | None) -> tuple[int, str]:
    """How often the containers were restarted, and when last; `only` names those that count."""
    counted = [one for one in containers if only is None or one["name"] in only]
    ends = [((one.get("lastState") or {}).get("terminated") or {}).get("finishedAt") or "" for one in counted]
    return sum(one.get("restartCount") or 0 for one in counted), max(ends, default="")


PRINTERS = {("", "Pod"): Printer(COLUMNS, pod)}
