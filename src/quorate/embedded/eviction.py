"""Eviction: a delete that asks the pod's disruption budget first, and says in the pod why it went."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from quorate.api.meta import Json
from quorate.embedded import deletion, disruption, errors, intake, query
from quorate.embedded.objectmeta import timestamp
from quorate.embedded.options import DeleteOptions, Options
from quorate.embedded.target import Target

if TYPE_CHECKING:
    from quorate.embedded.apiserver import ApiServer


async def evict(server: "ApiServer", target: Target, eviction: Any, options: Options) -> None:
    if not isinstance(eviction, dict) or not isinstance(eviction.get("metadata"), dict):
        raise errors.bad_request("not a Eviction object: metadata is missing")
    if eviction["metadata"].get("name") != target.name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    how = query.delete_options({}, eviction.get("deleteOptions") or {}, options.user)
    if options.dry_run:
        how = replace(how, dry_run=True)
    request = intake.asked("CREATE", target._replace(subresource="eviction"), (None, eviction), options)
    await server.admission.mutate(request)
    await server.admission.validate(request)
    pod = server.get(target.resource, target.namespace, target.name)
    deletion.check_preconditions(target.resource, pod, how)
    await disruption.spend(server, pod, dry_run=how.dry_run)
    await _delete(server, target, pod, how)


async def _delete(server: "ApiServer", target: Target, pod: Json, how: DeleteOptions) -> None:
    if not how.dry_run and not pod["metadata"].get("deletionTimestamp"):
        marked = server.store.update(target.key, _targeted(pod, timestamp(server.now())))
        if how.resource_version:
            how = replace(how, resource_version=marked["metadata"]["resourceVersion"])
    await server.delete(target, how)


def _targeted(pod: Json, now: str) -> Json:
    status = pod.get("status") or {}
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    others = [c for c in status.get("conditions") or () if c["type"] != "DisruptionTarget"]
    return {**pod, "status": {**status, "conditions": [*others, condition]}}
