"""Members that a gang gets later, announced by a pod that comes first, so that their seats can be held.

The pod says in an annotation who comes after it. The grouper puts them into the groups of its gang and says so
on the PodGroup. The scheduler finds seats for all, and notes on the pod, with its binding, which it holds.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from quorate.api import labels
from quorate.api.core import Pod
from quorate.api.meta import Json, ObjectMeta, Wire
from quorate.api.podspec import PodSpec

_IDENTITY = ("hostname", "subdomain", "scheduling_gates", "node_name")


class ExpectedError(Exception):
    """An annotation about expected members that cannot be read; the text names it."""


class ExpectedPod(Pod):
    """A pod that does not exist yet, as far as grouping and scheduling read pods."""


class Expected(Wire):
    """Pods to come that differ in nothing but their names and in a few labels."""

    pods: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)  # labels of their own, by name
    announcer: str = ""  # the pod that says so
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    spec: PodSpec = msgspec.field(default_factory=PodSpec)

    def pod(self, name: str, namespace: str) -> ExpectedPod:
        own = {**(self.labels or {}), **self.pods[name]}
        meta = ObjectMeta(name=name, namespace=namespace, labels=own, annotations=self.annotations)
        return ExpectedPod(metadata=meta, spec=self.spec)


def announcement(pods: Iterable[Json], own: Sequence[str]) -> str:
    """What is read of the pods, once for all that are alike; `own` are the labels that tell those apart."""
    alike: dict[bytes, Expected] = {}
    for pod in pods:
        meta = pod["metadata"]
        held = meta.get("labels") or {}
        found = Expected(
            labels={key: value for key, value in held.items() if key not in own},
            annotations=meta.get("annotations") or None,
            spec=_read(pod["spec"]),
        )
        kept = alike.setdefault(msgspec.json.encode(found, order="sorted"), found)
        kept.pods[meta["name"]] = {key: held[key] for key in own if key in held}
    return written(alike.values())


def written(found: Iterable[Expected]) -> str:
    return msgspec.json.encode(list(found), order="sorted").decode()


def expected_of(annotations: Mapping[str, str] | None) -> list[Expected]:
    """Whom an annotation announces."""
    text = (annotations or {}).get(labels.EXPECTED_MEMBERS)
    if not text:
        return []
    try:
        return msgspec.json.decode(text, type=list[Expected])
    except msgspec.DecodeError as error:
        raise ExpectedError(f"annotation {labels.EXPECTED_MEMBERS}: {error}") from error


def held_seats(annotations: Mapping[str, str] | None) -> dict[str, str]:
    """The node on which a seat is held, by the name of the pod it is held for; nothing if it cannot be read."""
    text = (annotations or {}).get(labels.HELD_SEATS)
    try:
        return msgspec.json.decode(text, type=dict[str, str]) if text else {}
    except msgspec.DecodeError:
        return {}


def _read(spec: Json) -> PodSpec:
    """The parts of a pod's spec that placing it depends on."""
    found = msgspec.convert(spec, PodSpec)
    lean = [
        [msgspec.structs.replace(one, image="", env=None) for one in part] if part else None
        for part in (found.containers, found.init_containers)
    ]
    blank = dict.fromkeys(_IDENTITY) | {"hostname": "", "subdomain": "", "node_name": ""}
    return msgspec.structs.replace(found, containers=lean[0], init_containers=lean[1], **blank)
