"""Create: a body becomes a stored object with the metadata, defaults and checks of its kind."""

from typing import TYPE_CHECKING

from quorate.api.meta import Json
from quorate.embedded import causes, errors
from quorate.embedded.objectmeta import generated_name, has_generation, new_uid, timestamp
from quorate.embedded.options import Options
from quorate.embedded.registry import Resource
from quorate.embedded.store import Key

if TYPE_CHECKING:
    from quorate.embedded.apiserver import ApiServer

# A generated name that is taken is tried again this often, as the real server does.
_NAME_TRIES = 8


async def create(
    server: "ApiServer", resource: Resource, namespace: str, body: Json, options: Options
) -> Json:
    obj = _own(resource, namespace, body)
    obj["metadata"] |= {"uid": new_uid(), "creationTimestamp": timestamp(server.now())}
    if has_generation(resource.group, resource.plural, custom=resource.definition is not None):
        obj["metadata"]["generation"] = 1
    _name(server, resource, obj["metadata"])
    key = Key(resource.group, resource.plural, namespace, obj["metadata"]["name"])
    if server.store.entry(key) is not None:
        raise errors.already_exists(resource, key.name)
    if options.dry_run:
        return obj
    stored = server.store.create(key, obj)
    await server.durable()
    return stored


def _own(resource: Resource, namespace: str, body: Json) -> Json:
    """A copy of the body, with the metadata a client may not choose taken out."""
    metadata = dict(body.get("metadata") or {})
    given = metadata.get("namespace") or namespace
    if given != namespace:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if resource.namespaced:
        metadata["namespace"] = namespace
    for name in ("uid", "resourceVersion", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"):
        metadata.pop(name, None)
    return {**body, "metadata": metadata}


def _name(server: "ApiServer", resource: Resource, metadata: Json) -> None:
    if metadata.get("name"):
        return
    base = metadata.get("generateName")
    if not base:
        raise errors.invalid(
            resource, "", [causes.required("metadata.name", "name or generateName is required")]
        )
    for _ in range(_NAME_TRIES):
        name = generated_name(base)
        if (
            server.store.entry(Key(resource.group, resource.plural, metadata.get("namespace", ""), name))
            is None
        ):
            metadata["name"] = name
            return
    raise errors.generate_name_conflict(resource, base)
