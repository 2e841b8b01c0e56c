"""Update and patch: a stored object becomes another one, if nobody was faster and something changes.

1. Metadata that the server owns is carried over; `status` changes only through the status subresource and the
   rest only without it; the generation counts changes of what is asked for.
2. A resourceVersion in the body must be the stored one. Without one the change is made again on what is
   stored by then, so that patches do not fail because of each other.
3. Nothing is written when nothing changed.
4. An object that was waiting for its finalizers is removed by the update that takes the last one off.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from quorate.api.meta import Json
from quorate.embedded import causes, errors, intake
from quorate.embedded.objectmeta import carried_over, has_generation
from quorate.embedded.options import Options
from quorate.embedded.registry import Resource
from quorate.embedded.representation import served
from quorate.embedded.store import AbsentError, StaleError
from quorate.embedded.target import Target

if TYPE_CHECKING:
    from quorate.embedded.apiserver import ApiServer

__all__ = ["Target", "change", "check_address", "update"]

# How often a change is made again on a newer object before the client is told of the conflict.
_TRIES = 5


async def update(server: "ApiServer", target: Target, body: Json, options: Options) -> Json:
    check_address(target, body)
    return await change(server, target, lambda _: body, options)


async def change(server: "ApiServer", target: Target, make: Callable[[Json], Json], options: Options) -> Json:
    """Put in the object's stead what `make` makes of it; `make` may be called again on a newer object."""
    for _ in range(_TRIES):
        entry = server.entry(target.resource, target.namespace, target.name)
        old = served(target.resource, entry.object)
        wanted = make(old)
        _check_preconditions(target, wanted, old)
        new = await _taken_in(server, target, (old, _settled(target, wanted, old)), options)
        if options.dry_run or _is_same(new, old):
            return new if options.dry_run else old
        try:
            return await _write(server, target, new, entry.revision)
        except StaleError:
            continue
        except AbsentError:
            raise errors.not_found(target.resource, target.name) from None
    raise errors.conflict(target.resource, target.name)


async def _taken_in(server: "ApiServer", target: Target, states: tuple[Json, Json], options: Options) -> Json:
    """The new of an old and a new state after all steps that every written object goes through."""
    old, new = states
    if new == old:
        return old
    new = intake.read(target.resource, new, options)
    new = intake.completed(target.resource, new)
    if not options.ownership_settled:
        new = intake.owned(server, target.resource, (old, new), options, target.subresource)
    request = intake.asked("UPDATE", target, (old, new), options)
    new = await intake.mutated(server, request)
    resource = target.resource
    custom = resource.definition is not None
    if has_generation(resource.group, resource.plural, custom=custom) and _asks_other(new, old):
        new["metadata"] = {**new["metadata"], "generation": old["metadata"].get("generation", 0) + 1}
    intake.check_changed(target, old, new, options)
    await server.admission.validate(replace(request, obj=new))
    return intake.settled(server, resource, new)


async def _write(server: "ApiServer", target: Target, new: Json, revision: int) -> Json:
    stored = server.store.update(
        target.key, {**new, "apiVersion": target.resource.stored_api_version}, revision
    )
    if _is_released(target.resource, stored):
        stored = server.store.delete(target.key)
    await server.durable()
    return served(target.resource, stored)


def _is_released(resource: Resource, obj: Json) -> bool:
    """Whether nothing holds an object that is being deleted any more."""
    metadata = obj["metadata"]
    if not metadata.get("deletionTimestamp") or metadata.get("finalizers"):
        return False
    if resource.plural == "namespaces" and not resource.group and obj["spec"].get("finalizers"):
        return False
    return not metadata.get("deletionGracePeriodSeconds")


def _is_same(new: Json, old: Json) -> bool:
    """Whether nothing but the times of field ownership differs."""
    if new is old or new == old:
        return True
    mine, others = dict(new["metadata"]), dict(old["metadata"])
    mine.pop("managedFields", None)
    others.pop("managedFields", None)
    if mine != others or {**new, "metadata": None} != {**old, "metadata": None}:
        return False
    owners = [_untimed(obj["metadata"].get("managedFields")) for obj in (new, old)]
    return owners[0] == owners[1]


def _untimed(entries: list[Json] | None) -> list[Json]:
    return [{**entry, "time": ""} for entry in entries or ()]


def check_address(target: Target, body: Json) -> None:
    metadata = body["metadata"]
    name, namespace = metadata.get("name", ""), metadata.get("namespace") or target.namespace
    if name != target.name:
        raise errors.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        )
    if namespace != target.namespace:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def _check_preconditions(target: Target, wanted: Json, old: Json) -> None:
    metadata, stored = wanted["metadata"], old["metadata"]
    uid = metadata.get("uid")
    if uid and uid != stored["uid"]:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {stored['uid']}"
        raise errors.precondition_failed(target.resource, target.namespace, target.name, why)
    version = metadata.get("resourceVersion")
    if version:
        if not version.isdigit():
            raise errors.unknown(errors.not_a_number(version))
        if version != stored["resourceVersion"]:
            raise errors.conflict(target.resource, target.name)
    elif target.resource.definition is not None:
        cause = causes.invalid("metadata.resourceVersion", 0, "must be specified for an update")
        raise errors.invalid(target.resource, target.name, [cause])


def _settled(target: Target, wanted: Json, old: Json) -> Json:
    """What would be stored: the wanted object with all that this request may not change put back."""
    custom = target.resource.definition is not None
    new = {**wanted, "metadata": carried_over(wanted["metadata"], old["metadata"])}
    if target.subresource == "finalize":
        spec = {**old.get("spec", {}), "finalizers": (wanted.get("spec") or {}).get("finalizers") or []}
        new = {**old, "spec": spec, "metadata": dict(old["metadata"])}
    elif target.subresource == "status":
        new = _only_status(new, old, custom=custom)
    elif target.resource.subresource("status") is not None:
        new.pop("status", None)
        if "status" in old:
            new["status"] = old["status"]
    new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
    return new


def _only_status(new: Json, old: Json, *, custom: bool) -> Json:
    kept = {**old, "metadata": dict(old["metadata"])}
    if "status" in new:
        kept["status"] = new["status"]
    else:
        kept.pop("status", None)
    # Built-in kinds also take labels, annotations and finalizers from a status update; custom kinds do not.
    names = ("managedFields",) if custom else ("managedFields", "labels", "annotations", "finalizers")
    for name in names:
        if name in new["metadata"]:
            kept["metadata"][name] = new["metadata"][name]
        else:
            kept["metadata"].pop(name, None)
    return kept


def _asks_other(new: Json, old: Json) -> bool:
    """Whether anything but metadata and status differs."""
    names = (new.keys() | old.keys()) - {"metadata", "status", "kind", "apiVersion"}
    return any(new.get(name) != old.get(name) for name in names)
