"""The status that a kubelet reports for a pod: waiting, running, ended; built from the pod and an instant.

The fake kubelets write these; each function returns a whole new status and keeps what others put there.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from quorate.api.meta import Json
from quorate.workloads.builtin.conditions import put
from quorate.workloads.builtin.instants import rfc3339

Make = Callable[[Json], Json]  # a new status from the pod as stored
_COMPLETED = "PodCompleted"


class Address(NamedTuple):
    host: str
    pod: str


def creating(pod: Json, address: Address, now: float) -> Json:
    """Accepted by the node, containers not running yet."""
    at, names = rfc3339(now), [item["name"] for item in pod["spec"]["containers"]]
    statuses = [
        _container(pod, item, {"waiting": {"reason": "ContainerCreating"}})
        for item in pod["spec"]["containers"]
    ]
    unready = f"containers with unready status: [{' '.join(names)}]"
    status = {**_base(pod, address, at), "phase": "Pending", "containerStatuses": statuses}
    return _with(
        pod, status, {"PodReadyToStartContainers": "", "Initialized": None, **_not_ready(unready)}, at
    )


def running(pod: Json, address: Address, now: float, *, ready: bool, restarts: int = 0) -> Json:
    """All containers run; init containers have completed, sidecars run beside them."""
    at = rfc3339(now)
    state = {"running": {"startedAt": at}}
    last = _last_states(pod)
    before = pod.get("status", {}).get("containerStatuses") or ()
    if not restarts and before and "running" in before[0]["state"]:
        state = before[0]["state"]
    containers = [
        _container(pod, item, state, last.get(item["name"]), ready=ready, restarts=restarts)
        for item in pod["spec"]["containers"]
    ]
    status = {**_base(pod, address, at), "phase": "Running", "containerStatuses": containers}
    if pod["spec"].get("initContainers"):
        status["initContainerStatuses"] = [_init(pod, item, at) for item in pod["spec"]["initContainers"]]
    unready = (
        f"containers with unready status: [{' '.join(item['name'] for item in pod['spec']['containers'])}]"
    )
    readiness = {"Ready": None, "ContainersReady": None} if ready else _not_ready(unready)
    return _with(pod, status, {"PodReadyToStartContainers": None, "Initialized": None, **readiness}, at)


def ended(pod: Json, exit_code: int, now: float, *, reason: str = "", message: str = "") -> Json:
    """Every container terminated for good."""
    at = rfc3339(now)
    status = dict(pod.get("status", {}))
    containers = [
        _container(pod, item, _terminated(pod, exit_code, at), restarts=_restarts(pod))
        for item in pod["spec"]["containers"]
    ]
    status |= {
        "phase": "Failed" if exit_code else "Succeeded",
        "containerStatuses": containers,
        **_observed(pod),
    }
    if reason:
        status |= {"reason": reason, "message": message}
    if status.get("initContainerStatuses"):
        status["initContainerStatuses"] = [
            _init(pod, item, at)
            if item.get("restartPolicy") != "Always"
            else _container(pod, item, _terminated(pod, 0, at))
            for item in pod["spec"]["initContainers"]
        ]
    for kind in ("PodReadyToStartContainers", "Ready", "ContainersReady"):
        note: Json = {"type": kind, **_observed(pod), "status": "False"}
        if kind != "PodReadyToStartContainers":
            note["reason"] = "PodFailed" if exit_code else _COMPLETED
        status["conditions"] = put(_without_reason(status["conditions"], kind), note, at)
    return status


def backing_off(pod: Json, exit_code: int, delay: float, now: float) -> Json:
    """A container that keeps ending waits before it runs again."""
    at, meta = rfc3339(now), pod["metadata"]
    status, last = dict(pod["status"]), _terminated(pod, exit_code, at)
    containers = []
    for item in pod["spec"]["containers"]:
        place = f"pod={meta['name']}_{meta['namespace']}({meta['uid']})"
        text = f"back-off {_duration(delay)} restarting failed container={item['name']} {place}"
        waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": text}}
        containers.append(_container(pod, item, waiting, last, restarts=_restarts(pod)))
    unready = (
        f"containers with unready status: [{' '.join(item['name'] for item in pod['spec']['containers'])}]"
    )
    return _with(pod, {**status, "containerStatuses": containers}, _not_ready(unready), at)


def rejected(pod: Json, reason: str, message: str, now: float) -> Json:
    """The node did not take the pod: what kubelet admission leaves behind."""
    status = dict(pod.get("status", {}))
    return {**status, "phase": "Failed", "reason": reason, "message": message, "startTime": rfc3339(now)}


def _base(pod: Json, address: Address, at: str) -> Json:
    status = dict(pod.get("status", {}))
    status |= {"hostIP": address.host, "hostIPs": [{"ip": address.host}]}
    status |= {"podIP": address.pod, "podIPs": [{"ip": address.pod}]}
    status |= _observed(pod)
    status.setdefault("startTime", at)
    status.setdefault("qosClass", "Burstable")
    return status


def _observed(pod: Json) -> Json:
    generation = pod["metadata"].get("generation")
    return {"observedGeneration": generation} if generation else {}


def _not_ready(message: str) -> dict[str, str | None]:
    return {"Ready": message, "ContainersReady": message}


def _with(pod: Json, status: Json, wanted: dict[str, str | None], at: str) -> Json:
    """Set conditions: `None` is True, a text is False for want of ready containers."""
    conditions: Sequence[Json] = status.get("conditions") or []
    for kind, why in wanted.items():
        note: Json = {"type": kind, **_observed(pod), "status": "True" if why is None else "False"}
        if why:
            note |= {"reason": "ContainersNotReady", "message": why}
        else:
            conditions = _without_reason(conditions, kind)
        conditions = put(conditions, note, at)
    return {**status, "conditions": list(conditions)}


def _without_reason(conditions: Sequence[Json], kind: str) -> list[Json]:
    """A condition that turns true says no more why it was false."""
    gone = {"reason", "message"}
    return [
        {key: value for key, value in item.items() if key not in gone} if item["type"] == kind else item
        for item in conditions
    ]


def _container(
    pod: Json, item: Json, state: Json, last: Json | None = None, *, ready: bool = False, restarts: int = 0
) -> Json:
    runs = "running" in state
    identity = f"quorate://{pod['metadata']['uid']}/{item['name']}/{restarts}"
    has_run = "waiting" not in state or last
    return {
        "name": item["name"],
        "image": item.get("image", ""),
        "imageID": "",
        **({"containerID": identity} if has_run else {}),
        "ready": ready,
        "started": runs,
        "restartCount": restarts,
        "state": state,
        "lastState": last or {},
    }


def _init(pod: Json, item: Json, at: str) -> Json:
    if item.get("restartPolicy") == "Always":
        return _container(pod, item, {"running": {"startedAt": at}}, ready=True)
    done = {"exitCode": 0, "reason": "Completed", "startedAt": at, "finishedAt": at}
    return _container(pod, item, {"terminated": done}, ready=True)


def _terminated(pod: Json, exit_code: int, at: str) -> Json:
    began = at
    for item in pod.get("status", {}).get("containerStatuses") or ():
        began = (item["state"].get("running") or {}).get("startedAt", began)
    reason = "Error" if exit_code else "Completed"
    return {"terminated": {"exitCode": exit_code, "reason": reason, "startedAt": began, "finishedAt": at}}


def _last_states(pod: Json) -> dict[str, Json]:
    """What each container was before: its end, or what it already remembers of one."""
    found: dict[str, Json] = {}
    for item in pod.get("status", {}).get("containerStatuses") or ():
        found[item["name"]] = item["state"] if "terminated" in item["state"] else item.get("lastState") or {}
    return found


def _restarts(pod: Json) -> int:
    return max(
        (item["restartCount"] for item in pod.get("status", {}).get("containerStatuses") or ()), default=0
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
