"""What every written object goes through before the store: types, defaults, ownership, rules.

`creation.py` and `updating.py` put these steps in order; each step leaves its meaning to its own module.
"""

from typing import TYPE_CHECKING

from quorate.api.meta import Json
from quorate.embedded import (
    customkind,
    defaults,
    definitionrules,
    errors,
    managedfields,
    typed,
    validation,
)
from quorate.embedded.admissionrequest import Operation, Request
from quorate.embedded.causes import Cause
from quorate.embedded.managedfields import Writer
from quorate.embedded.objectmeta import timestamp
from quorate.embedded.options import Options
from quorate.embedded.registry import Resource
from quorate.embedded.shape import shape_of

if TYPE_CHECKING:
    from quorate.embedded.apiserver import ApiServer
    from quorate.embedded.target import Target

# Who writes without saying so, as the real server records it.
_NOBODY = "unknown"
_STATUS_FIELDS: Json = {"f:status": {}}
_SPEC_FIELDS: Json = {"f:spec": {}}
_SPEC_AND_METADATA_FIELDS: Json = {"f:spec": {}, "f:metadata": {}}


def check_definition_serves(server: "ApiServer", resource: Resource, name: str) -> None:
    """A custom kind whose definition is on its way out takes no new objects."""
    if resource.definition is not None and server.definitions.is_leaving(resource):
        why = "create not allowed while custom resource definition is terminating"
        raise errors.forbidden(resource, name, why)


def asked(
    operation: Operation, target: "Target", states: tuple[Json | None, Json | None], options: Options
) -> Request:
    """The old and the new state as admission is asked about them."""
    old, new = states
    resource = target.resource
    return Request(
        operation=operation,
        resource=resource,
        namespace=target.namespace,
        name=target.name,
        obj=new,
        old=old,
        subresource=target.subresource,
        user=options.user,
        dry_run=options.dry_run,
        field_manager=options.field_manager,
        warnings=options.warnings,
        complete=lambda tree: completed(resource, read(resource, tree, options)),
    )


async def mutated(server: "ApiServer", request: Request) -> Json:
    """The new state with what admission adds to it."""
    obj = await server.admission.mutate(request)
    assert obj is not None, "only deletions have no new state"
    return obj


def read(resource: Resource, tree: Json, options: Options) -> Json:
    """A fresh object of the kind, in normal form; what does not belong there is refused, told or dropped."""
    try:
        if resource.schema is not None:
            obj, complaints = customkind.complete(resource.schema, tree)
            if resource.storage_schema is not None and resource.version != resource.storage_version:
                obj, _ = customkind.complete(resource.storage_schema, obj)
        else:
            obj, complaints = typed.decode(shape_of(resource), tree)
    except typed.WrongTypeError as error:
        raise errors.bad_request(typed.refusal(resource.kind, resource.version, str(error))) from None
    complain(resource, complaints, options)
    return obj


def complain(resource: Resource, complaints: list[str], options: Options) -> None:
    """Refuse unknown and repeated fields, warn of them or be silent, as the request wishes."""
    if not complaints or options.field_validation == "Ignore":
        return
    if options.field_validation == "Strict":
        raise errors.bad_request(typed.strict_refusal(resource.kind, resource.version, complaints))
    options.warnings.extend(complaints)


def completed(resource: Resource, obj: Json) -> Json:
    """The object, which nobody else holds, with the defaults of its kind."""
    if resource.definition is None:
        return defaults.default(resource.group, resource.kind, obj)
    return obj


def owned(
    server: "ApiServer",
    resource: Resource,
    states: tuple[Json | None, Json],
    options: Options,
    subresource: str = "",
) -> Json:
    """The new of an old and a new state, with the ownership of what its writer has changed."""
    old, new = states
    if old is not None and "managedFields" not in old["metadata"]:
        # What nobody owns any more is not followed again until somebody applies it.
        return new
    writer = Writer(options.field_manager or _NOBODY, resource.api_version, subresource)
    ignored = _unwritable(resource, subresource)
    return managedfields.track(shape_of(resource), old, new, writer, timestamp(server.now()), ignored)


def settled(server: "ApiServer", resource: Resource, obj: Json) -> Json:
    """The object with the status that the server itself gives to its kind."""
    if (resource.group, resource.plural) != (definitionrules.GROUP, definitionrules.PLURAL):
        return obj
    return server.definitions.settled(obj, timestamp(server.now()))


def check_new(resource: Resource, obj: Json, options: Options) -> None:
    found = validation.validate_create(resource.group, resource.kind, obj, namespaced=resource.namespaced)
    if resource.definition is not None:
        found = found + _custom_findings(resource, obj, None, options)
    elif resource.plural == definitionrules.PLURAL:
        found = found + definitionrules.check_definition(obj)
    if found:
        raise errors.invalid(resource, obj["metadata"].get("name", ""), found)


def check_changed(target: "Target", old: Json, new: Json, options: Options) -> None:
    resource = target.resource
    if target.subresource == "status":
        found = validation.validate_status(new, old)
    else:
        found = validation.validate_update(resource.group, resource.kind, new, old)
    if resource.definition is not None:
        found = found + _custom_findings(resource, new, old, options)
    elif resource.plural == definitionrules.PLURAL:
        found = found + definitionrules.check_change(new, old)
    if found:
        raise errors.invalid(resource, target.name, found)


def _custom_findings(resource: Resource, new: Json, old: Json | None, options: Options) -> list[Cause]:
    assert resource.schema is not None, resource
    verdict = customkind.check(resource.schema, new, old)
    options.warnings.extend(verdict.warnings)
    return verdict.causes


def _unwritable(resource: Resource, subresource: str) -> Json | None:
    """The fields that a write through this door cannot set, so nobody comes to own them by it."""
    if subresource == "status":
        return _SPEC_FIELDS if resource.definition is None else _SPEC_AND_METADATA_FIELDS
    return _STATUS_FIELDS if resource.subresource("status") is not None else None
