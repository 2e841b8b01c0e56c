"""Delete: at once, after a grace period for pods that run somewhere, or once all finalizers are gone.

An object that has to wait gets a deletionTimestamp and stays. Foreground and orphan deletion are finalizers
that the garbage collector takes off; background deletion leaves the dependents to it.
"""

from typing import TYPE_CHECKING, NamedTuple

from quorate.api.meta import Json
from quorate.embedded import errors
from quorate.embedded.admissionrequest import Request
from quorate.embedded.listing import Page
from quorate.embedded.objectmeta import has_generation, timestamp
from quorate.embedded.options import DeleteOptions, ListOptions
from quorate.embedded.registry import Resource
from quorate.embedded.target import Target

if TYPE_CHECKING:
    from quorate.embedded.apiserver import ApiServer

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
_OF_PROPAGATION = {"Foreground": FOREGROUND, "Orphan": ORPHAN}
# Kinds whose last state, rather than a Status, is the answer to a deletion.
_RETURNED = frozenset(
    {"pods", "services", "serviceaccounts", "persistentvolumes", "persistentvolumeclaims", "podtemplates"}
)


class _ByKind:
    """Conflicts of deletions name the kind where all others name the resource."""

    def __init__(self, resource: Resource) -> None:
        self.group = resource.group
        self.kind = self.plural = resource.kind


class Deleted(NamedTuple):
    object: Json
    # False while the object waits for its grace period or its finalizers.
    at_once: bool


async def delete(server: "ApiServer", target: Target, options: DeleteOptions) -> Deleted:
    old = server.get(target.resource, target.namespace, target.name)
    check_preconditions(target.resource, old, options)
    await _admitted(server, target, old, options)
    # Webhooks take time: go on with the object as it is by now.
    old = server.get(target.resource, target.namespace, target.name)
    check_preconditions(target.resource, old, options)
    new = _marked(server, target, old, options)
    if new is old or options.dry_run:
        return Deleted(new or old, at_once=new is None)
    if new is None:
        removed = server.store.delete(target.key)
        await server.durable()
        return Deleted(_last_seen(server, target.resource, removed), at_once=True)
    stored = server.store.update(target.key, new)
    await server.durable()
    if target.resource.plural == "customresourcedefinitions":
        await server.definitions.clean_up(stored)
    return Deleted(stored, at_once=False)


def _last_seen(server: "ApiServer", resource: Resource, removed: Json) -> Json:
    """A pod goes as one whose grace period is over."""
    if (resource.group, resource.plural) != ("", "pods"):
        return removed
    metadata = {**removed["metadata"], "deletionGracePeriodSeconds": 0}
    if "deletionTimestamp" not in metadata:
        metadata["deletionTimestamp"] = timestamp(server.now())
        metadata["generation"] = metadata.get("generation", 0) + 1
    return {**removed, "metadata": metadata}


async def _admitted(server: "ApiServer", target: Target, old: Json, options: DeleteOptions) -> None:
    request = Request(
        operation="DELETE",
        resource=target.resource,
        namespace=target.namespace,
        name=target.name,
        obj=None,
        old=old,
        user=options.user,
        dry_run=options.dry_run,
        warnings=options.warnings,
    )
    await server.admission.mutate(request)
    await server.admission.validate(request)


async def delete_collection(
    server: "ApiServer", resource: Resource, namespace: str, selected: ListOptions, options: DeleteOptions
) -> Page:
    """Delete what is selected; what somebody else deletes meanwhile is none of this request's errors."""
    page = server.list(resource, namespace, selected)
    for obj in page.objects:
        metadata = obj["metadata"]
        target = Target(resource, metadata.get("namespace", ""), metadata["name"])
        try:
            await delete(server, target, options)
        except errors.ApiError as error:
            if error.code != 404:
                raise
    return page


def answer(target: Target, deleted: Deleted) -> Json:
    resource = target.resource
    builtin = resource.definition is None
    if not deleted.at_once or (builtin and not resource.group and resource.plural in _RETURNED):
        return deleted.object
    details = {
        "name": target.name,
        "group": resource.group,
        "kind": resource.plural,
        "uid": deleted.object["metadata"]["uid"],
    }
    return success({name: value for name, value in details.items() if value})


def success(details: Json | None = None, *, code: int = 0) -> Json:
    status: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if details:
        status["details"] = details
    return {**status, "code": code} if code else status


def check_preconditions(resource: Resource, old: Json, options: DeleteOptions) -> None:
    metadata = old["metadata"]
    if options.uid and options.uid != metadata["uid"]:
        raise errors.conflict(
            _ByKind(resource),
            metadata["name"],
            f"the UID in the precondition ({options.uid}) does not match the UID in record "
            f"({metadata['uid']}). The object might have been deleted and then recreated",
        )
    version = options.resource_version
    if version and version != metadata["resourceVersion"]:
        raise errors.conflict(
            _ByKind(resource),
            metadata["name"],
            f"the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in "
            f"record ({metadata['resourceVersion']}). The object might have been modified",
        )


def _marked(server: "ApiServer", target: Target, old: Json, options: DeleteOptions) -> Json | None:
    """The object as it stays until it may go; None when it goes now, `old` itself when nothing changes."""
    finalizers = _finalizers(old["metadata"].get("finalizers") or [], options)
    grace = _grace(target.resource, old, options)
    if not finalizers and not grace and not _is_namespace_in_use(target.resource, old):
        return None
    metadata = _with_finalizers(old["metadata"], finalizers)
    pending = metadata.get("deletionGracePeriodSeconds")
    is_first = metadata.get("deletionTimestamp") is None
    if is_first or (pending is not None and grace < pending):
        metadata["deletionTimestamp"] = timestamp(server.now() + grace)
        metadata["deletionGracePeriodSeconds"] = grace
        custom = target.resource.definition is not None
        if is_first and has_generation(target.resource.group, target.resource.plural, custom=custom):
            metadata["generation"] = metadata.get("generation", 0) + 1
    if metadata == old["metadata"]:
        return old
    new = {**old, "metadata": metadata}
    if target.resource.plural == "namespaces" and not target.resource.group:
        new["status"] = {**old.get("status", {}), "phase": "Terminating"}
    return new


def _finalizers(present: list[str], options: DeleteOptions) -> list[str]:
    """Foreground and orphan exclude each other; a deletion that names neither keeps what the object says."""
    if options.propagation is None:
        return present
    kept = [name for name in present if name not in {FOREGROUND, ORPHAN}]
    wanted = _OF_PROPAGATION.get(options.propagation)
    return [*kept, wanted] if wanted else kept


def _with_finalizers(metadata: Json, finalizers: list[str]) -> Json:
    kept = {name: value for name, value in metadata.items() if name != "finalizers"}
    return {**kept, "finalizers": finalizers} if finalizers else kept


def _grace(resource: Resource, old: Json, options: DeleteOptions) -> int:
    """Seconds the kubelet gets; none for what no kubelet runs."""
    if resource.group or resource.plural != "pods":
        return 0
    spec = old["spec"]
    if not spec.get("nodeName") or old.get("status", {}).get("phase") in {"Succeeded", "Failed"}:
        return 0
    wanted = options.grace_period_seconds
    if wanted is None:
        wanted = spec.get("terminationGracePeriodSeconds", 30)
    # A negative grace period means the shortest one that still asks the kubelet.
    return int(wanted) if wanted >= 0 else 1


def _is_namespace_in_use(resource: Resource, old: Json) -> bool:
    is_namespace = resource.plural == "namespaces" and not resource.group
    return is_namespace and bool(old.get("spec", {}).get("finalizers"))
