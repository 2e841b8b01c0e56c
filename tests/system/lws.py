"""LeaderWorkerSets for the system tests: a manifest in few words, and what the pods of the set look like."""

from typing import Any

import msgspec

from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl

Json = dict[str, Any]

PREFIX = "leaderworkerset.sigs.k8s.io/"


def template(*, image: str = "example/app:1", gpus: int = 1, notes: Json | None = None, **spec: Any) -> Json:
    container: Json = {"name": "app", "image": image}
    if gpus:
        container["resources"] = {"limits": {"nvidia.com/gpu": gpus}}
    # workers that stop at once keep the tests short
    annotations = {"quorate.dev/fake-stop-seconds": "0.05", "quorate.dev/fake-start-seconds": "0.1"}
    return {
        "metadata": {"annotations": {**annotations, **(notes or {})}},
        "spec": {"schedulerName": "quorate", "containers": [container], **spec},
    }


def web(
    *,
    replicas: int = 2,
    size: int = 2,
    worker: Json | None = None,
    rolling: Json | None = None,
    annotations: Json | None = None,
    spec: Json | None = None,
    **group: Any,
) -> str:
    """The manifest of a set; `group` are fields of its leaderWorkerTemplate."""
    body: Json = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "web", "annotations": annotations or {}},
        "spec": {
            "replicas": replicas,
            "leaderWorkerTemplate": {"size": size, "workerTemplate": worker or template(), **group},
            "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": rolling or {}},
            **(spec or {}),
        },
    }
    return msgspec.json.encode(body).decode()


def available(shell: Kubectl) -> None:
    """Wait until the set is available as its spec is now."""

    def seen() -> bool:
        item = shell.get("lws", "web")
        status = item.get("status", {})
        conditions = {found["type"]: found["status"] for found in status.get("conditions", ())}
        is_current = status.get("observedGeneration") == item["metadata"]["generation"]
        return is_current and conditions.get("Available") == "True"

    eventually(seen)


def pods(shell: Kubectl) -> list[Json]:
    """The set's pods by name."""
    found = shell.get("pods", "-l", f"{PREFIX}name=web")["items"]
    return sorted(found, key=lambda pod: str(pod["metadata"]["name"]))


def names(shell: Kubectl) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods(shell)]


def uids(shell: Kubectl) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods(shell)}


def images(shell: Kubectl) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in pods(shell)}


def status(shell: Kubectl) -> Json:
    found: Json = shell.get("lws", "web").get("status", {})
    return found


def condition(shell: Kubectl, kind: str) -> Json:
    return next((one for one in status(shell).get("conditions", ()) if one["type"] == kind), {})


def patched(shell: Kubectl, patch: Json) -> None:
    shell("patch", "lws", "web", "--type=merge", "-p", msgspec.json.encode(patch).decode())


def with_image(shell: Kubectl, image: str) -> None:
    text = f'[{{"op":"replace","path":"{IMAGE}","value":"{image}"}}]'
    shell("patch", "lws", "web", "--type=json", "-p", text)


IMAGE = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image"
