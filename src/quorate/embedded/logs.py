"""What a pod has to say: a line or two made up from its status, as nothing really runs in it."""

from quorate.api.meta import Json
from quorate.embedded.causes import quoted
from quorate.embedded.errors import bad_request


def text(pod: Json, container: str) -> str:
    """The log of one container; 400 where a kubelet would have none to show."""
    name = pod["metadata"]["name"]
    known = [c["name"] for part in ("initContainers", "containers") for c in pod["spec"].get(part) or ()]
    main = [c["name"] for c in pod["spec"]["containers"]]
    if not container:
        if len(main) > 1:
            raise bad_request(
                f"a container name must be specified for pod {name}, choose one of: [{' '.join(main)}]"
            )
        container = main[0]
    if container not in known:
        raise bad_request(f"container {container} is not valid for pod {name}")
    status = pod.get("status") or {}
    if status.get("phase", "Pending") == "Pending":
        why = "ContainerCreating" if pod["spec"].get("nodeName") else "no node assigned"
        raise bad_request(f"container {quoted(container)} in pod {quoted(name)} is waiting to start: {why}")
    lines = [f"{name}/{container}: started on {pod['spec'].get('nodeName', '')} at {_start(status)}"]
    if status["phase"] in {"Succeeded", "Failed"}:
        lines.append(f"{name}/{container}: ended, the pod has {status['phase'].lower()}")
    return "".join(f"{line}\n" for line in lines)


def _start(status: Json) -> str:
    start: str = status.get("startTime") or "an unknown time"
    return start
