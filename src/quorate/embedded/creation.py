"""Create: a body becomes a stored object with the metadata, defaults and checks of its kind."""

from dataclasses import replace
from typing import TYPE_CHECKING

from quorate.api.meta import Json
from quorate.embedded import causes, defaults, errors, intake
from quorate.embedded.objectmeta import generated_name, has_generation, new_uid, timestamp
from quorate.embedded.options import Options
from quorate.embedded.registry import Resource
from quorate.embedded.store import Key
from quorate.embedded.target import Target

if TYPE_CHECKING:
    from quorate.embedded.apiserver import ApiServer

# A generated name that is taken is tried again this often, as the real server does.
_NAME_TRIES = 8
# What a client may not choose.
_SERVER_SIDE = ("uid", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds")


async def create(
    server: "ApiServer", resource: Resource, namespace: str, body: Json, options: Options
) -> Json:
    """Store the body; dry-run does everything but that."""
    obj = _owned_by_server(resource, namespace, intake.read(resource, body, options))
    target = Target(resource, namespace, obj["metadata"].get("name", ""))
    intake.check_definition_serves(server, resource, target.name)
    obj = intake.completed(resource, obj)
    if not options.ownership_settled:
        obj = intake.owned(server, resource, (None, obj), options)
    # What admission adds belongs to nobody, as on the real server.
    request = intake.asked("CREATE", target, (None, obj), options)
    obj = await intake.mutated(server, request)
    obj = _founded(server, resource, obj)
    intake.check_new(resource, obj, options)
    obj = intake.settled(server, resource, obj)
    await server.admission.validate(replace(request, obj=obj))
    key = target._replace(name=obj["metadata"]["name"]).key
    if server.store.entry(key) is not None:
        raise errors.already_exists(resource, key.name)
    if options.dry_run:
        return obj
    stored = server.store.create(key, {**obj, "apiVersion": resource.stored_api_version})
    await server.durable()
    return stored


def _owned_by_server(resource: Resource, namespace: str, body: Json) -> Json:
    """The body with the metadata a client may not choose taken out."""
    metadata: Json = body.get("metadata") or {}
    if (metadata.get("namespace") or namespace) != namespace:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if metadata.get("resourceVersion"):
        raise errors.unknown("resourceVersion should not be set on objects to be created")
    metadata = {name: value for name, value in metadata.items() if name not in _SERVER_SIDE}
    if resource.namespaced:
        metadata["namespace"] = namespace
    return {**body, "metadata": metadata}


def _founded(server: "ApiServer", resource: Resource, obj: Json) -> Json:
    """The object with a name, a UID and the state a new one starts with."""
    custom = resource.definition is not None
    metadata = {
        **obj["metadata"],
        "uid": new_uid(),
        "creationTimestamp": timestamp(server.now()),
    }
    if has_generation(resource.group, resource.plural, custom=custom):
        metadata["generation"] = 1
    if not metadata.get("name"):
        metadata["name"] = _new_name(server, resource, metadata)
    obj = {**obj, "metadata": metadata}
    if custom and resource.subresource("status") is not None:
        obj.pop("status", None)
    if not custom:
        defaults.prepare_create(resource.group, resource.kind, obj)
    return obj


def _new_name(server: "ApiServer", resource: Resource, metadata: Json) -> str:
    base = metadata.get("generateName")
    if not base:
        cause = causes.required("metadata.name", "name or generateName is required")
        raise errors.invalid(resource, "", [cause])
    for _ in range(_NAME_TRIES):
        name = generated_name(base)
        key = Key(resource.group, resource.plural, metadata.get("namespace", ""), name)
        if server.store.entry(key) is None:
            return name
    raise errors.generate_name_conflict(resource, base)
