"""Binding: a pod gets its node, once, if it is the pod that was meant and may be bound.

Done straight on the stored object, as the real server does: no admission of the pod, no field ownership.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from quorate.api.meta import Json
from quorate.embedded import causes, errors, intake
from quorate.embedded.objectmeta import timestamp
from quorate.embedded.options import Options
from quorate.embedded.target import Target

if TYPE_CHECKING:
    from quorate.embedded.apiserver import ApiServer


class _Bindings(NamedTuple):
    """How conflicts of this subresource name it."""

    group: str = ""
    kind: str = "Binding"
    plural: str = "pods/binding"


async def bind(server: "ApiServer", target: Target, binding: Any, options: Options) -> None:
    node = _node(target, binding)
    request = intake.asked("CREATE", target._replace(subresource="binding"), (None, binding), options)
    await server.admission.mutate(request)
    await server.admission.validate(request)
    pod = server.get(target.resource, target.namespace, target.name)
    _check_preconditions(target, binding["metadata"], pod["metadata"])
    if refusal := _refusal(pod):
        raise errors.conflict(_Bindings(), target.name, refusal)
    if options.dry_run:
        return
    server.store.update(target.key, bound(pod, node, binding["metadata"], timestamp(server.now())))
    await server.durable()


def bound(pod: Json, node: str, metadata: Json, now: str) -> Json:
    merged = dict(pod["metadata"])
    for name in ("annotations", "labels"):
        if metadata.get(name):
            merged[name] = {**(merged.get(name) or {}), **metadata[name]}
    status = {name: value for name, value in pod.get("status", {}).items() if name != "nominatedNodeName"}
    others = [c for c in status.get("conditions") or () if c["type"] != "PodScheduled"]
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
    }
    return {
        **pod,
        "metadata": merged,
        "spec": {**pod["spec"], "nodeName": node},
        "status": {**status, "conditions": [*others, scheduled]},
    }


def _node(target: Target, binding: Any) -> str:
    if not isinstance(binding, dict) or not isinstance(binding.get("metadata"), dict):
        raise errors.bad_request("not a Binding object: metadata is missing")
    if binding["metadata"].get("name") != target.name:
        raise errors.bad_request("name in URL does not match name in Binding object")
    node = binding.get("target") or {}
    kind = node.get("kind") or "Node"
    if kind != "Node":
        cause = causes.not_supported("target.kind", kind, ["Node", "<empty>"])
        raise errors.unknown(str(cause))
    if not node.get("name"):
        raise errors.unknown(str(causes.required("target.name")))
    name: str = node["name"]
    return name


def _check_preconditions(target: Target, wanted: Json, stored: Json) -> None:
    for name, word in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        if wanted.get(name) and wanted[name] != stored[name]:
            why = (
                f"Precondition failed: {word} in precondition: {wanted[name]}, "
                f"{word} in object meta: {stored[name]}"
            )
            raise errors.precondition_failed(target.resource, target.namespace, target.name, why)


def _refusal(pod: Json) -> str:
    name, spec = pod["metadata"]["name"], pod["spec"]
    if pod["metadata"].get("deletionTimestamp"):
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if spec.get("nodeName"):
        return f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    if spec.get("schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""
