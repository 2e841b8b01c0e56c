"""The scale subresource: an autoscaling/v1 Scale seen in an object, and written back as its replica count.

Built-in kinds keep the numbers at well-known places; a custom kind names the places in its definition.
"""

from typing import Any, NamedTuple

from quorate.api.meta import Json
from quorate.embedded import causes, errors
from quorate.embedded.registry import Resource


class _Scale(NamedTuple):
    """How refusals and tables name it."""

    group: str = "autoscaling"
    kind: str = "Scale"
    plural: str = "scales"
    definition: Json | None = None


SCALE = _Scale()
_BUILTIN_PATHS = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}


def seen(resource: Resource, obj: Json) -> Json:
    paths, metadata = _paths(resource), obj["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Json = {"replicas": _at(obj, paths["statusReplicasPath"]) or 0}
    selector = _selector(resource, obj)
    if selector:
        status["selector"] = selector
    replicas = _at(obj, paths["specReplicasPath"])
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in kept if name in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def scaled(resource: Resource, obj: Json, scale: Json) -> Json:
    """The object with the replicas of the Scale and its preconditions."""
    replicas = _replicas(scale)
    metadata = {**obj["metadata"]}
    sent = scale.get("metadata") or {}
    for name in ("uid", "resourceVersion"):
        if sent.get(name):
            metadata[name] = sent[name]
    path = _paths(resource)["specReplicasPath"].removeprefix(".").split(".")
    return _with({**obj, "metadata": metadata}, path, replicas)


def check(scale: Any, name: str) -> Json:
    """The body as a Scale, or the refusal it deserves."""
    if not isinstance(scale, dict) or scale.get("kind", "Scale") != "Scale":
        raise errors.bad_request(f"the object provided is unrecognized (must be of type Scale of {name})")
    spec = scale.get("spec") or {}
    if not isinstance(spec, dict) or not isinstance(spec.get("replicas", 0), int):
        raise errors.bad_request(
            'Scale in version "v1" cannot be handled as a Scale: spec.replicas is no number'
        )
    replicas = _replicas(scale)
    if replicas < 0:
        cause = causes.invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise errors.invalid(SCALE, name, [cause])
    return scale


def _replicas(scale: Json) -> int:
    replicas: int = (scale.get("spec") or {}).get("replicas") or 0
    return replicas


def _paths(resource: Resource) -> Json:
    definition = resource.definition or {}
    paths: Json = (definition.get("subresources") or {}).get("scale") or _BUILTIN_PATHS
    return paths


def _selector(resource: Resource, obj: Json) -> str:
    """The pods that are counted, as text: custom kinds keep it so, built-in kinds as a selector or a map."""
    path = _paths(resource).get("labelSelectorPath")
    if path:
        return str(_at(obj, path) or "")
    if resource.definition is not None:
        return ""
    selector = obj["spec"].get("selector") or {}
    if resource.plural == "replicationcontrollers":
        return ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
    terms = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    return ",".join([*terms, *(_expression(term) for term in selector.get("matchExpressions") or ())])


def _expression(term: Json) -> str:
    key, values = term["key"], ",".join(sorted(term.get("values") or ()))
    words = {
        "In": f"{key} in ({values})",
        "NotIn": f"{key} notin ({values})",
        "Exists": key,
        "DoesNotExist": f"!{key}",
    }
    text: str = words[term["operator"]]
    return text


def _at(obj: Json, path: str) -> Any:
    value: Any = obj
    for part in path.removeprefix(".").split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _with(obj: Json, path: list[str], value: int) -> Json:
    head, *rest = path
    return {**obj, head: _with(obj.get(head) or {}, rest, value) if rest else value}
