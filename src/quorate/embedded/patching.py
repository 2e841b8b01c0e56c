"""Patch: a document becomes a change of the stored object, by the rules its media type names.

The rules are in `patch.py`, `strategic.py` and `managedfields.py`; this module picks them, words refusals and
hands the change to `updating.py`, or to `creation.py` when something is applied that is not there yet.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from quorate.api.meta import Json
from quorate.embedded import body, causes, creation, errors, intake, managedfields, scale, updating
from quorate.embedded.errors import ApiError
from quorate.embedded.fieldset import MalformedFields
from quorate.embedded.objectmeta import timestamp
from quorate.embedded.optionerrors import refused
from quorate.embedded.options import Options, Patch
from quorate.embedded.patch import (
    MalformedPatchError,
    PatchFailedError,
    UnmergeableError,
    json_patch,
    merge_patch,
)
from quorate.embedded.registry import Resource
from quorate.embedded.shape import GRANULAR, Shape, shape_of
from quorate.embedded.strategic import strategic_merge
from quorate.embedded.target import Target

if TYPE_CHECKING:
    from quorate.embedded.apiserver import ApiServer
    from quorate.embedded.causes import Cause

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
MEDIA_TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY)
_CUSTOM_MEDIA_TYPES = (JSON_PATCH, MERGE_PATCH, APPLY)


class _Nothing(NamedTuple):
    """What a refused patch is said to be of."""

    group: str = ""
    kind: str = ""
    plural: str = ""


def media_types(resource: Resource) -> tuple[str, ...]:
    return MEDIA_TYPES if resource.definition is None else _CUSTOM_MEDIA_TYPES


async def patch(server: "ApiServer", target: Target, document: Patch, options: Options) -> tuple[Json, bool]:
    """The object as it is stored now, and whether the patch created it."""
    _check_options(document, options)
    if document.media_type == APPLY:
        return await _apply(server, target, document.body, options)
    patched = _patcher(shape_of(target.resource), document)

    def make(old: Json) -> Json:
        return _read(target, document, patched(old), options)

    return await updating.change(server, target, make, options), False


async def patch_scale(server: "ApiServer", target: Target, document: Patch, options: Options) -> Json:
    """The patch is of the Scale that is seen in the object."""
    _check_options(document, options)
    if document.media_type == APPLY:
        raise errors.unsupported_media_type(MEDIA_TYPES[:3])
    patched = _patcher(GRANULAR, document)

    def make(old: Json) -> Json:
        wanted = scale.check(patched(scale.seen(target.resource, old)), target.name)
        return scale.scaled(target.resource, old, wanted)

    stored = await updating.change(server, target._replace(subresource=""), make, options)
    return scale.seen(target.resource, stored)


def _patcher(shape: Shape, document: Patch) -> Callable[[Json], Any]:
    rules: dict[str, Callable[[Json], Any]] = {
        JSON_PATCH: lambda old: json_patch(old, document.body),
        MERGE_PATCH: lambda old: merge_patch(old, document.body),
        STRATEGIC_MERGE_PATCH: lambda old: strategic_merge(shape, old, document.body),
    }
    apply_rules = rules[document.media_type]

    def patched(old: Json) -> Any:
        try:
            return apply_rules(old)
        except MalformedPatchError as error:
            raise errors.bad_request(str(error)) from None
        except PatchFailedError:
            message = "the server rejected our request due to an error in our request"
            raise errors.failure(422, "Invalid", message, {}) from None
        except UnmergeableError as error:
            raise errors.failure(500, "", str(error)) from None

    return patched


async def _apply(server: "ApiServer", target: Target, config: Any, options: Options) -> tuple[Json, bool]:
    _check_kind(config, target.resource)
    config = body.typed(config, target.resource)
    settled = replace(options, ownership_settled=True)
    stored = server.store.get(target.key)
    if stored is None:
        if target.subresource:
            raise errors.not_found(target.resource, target.name)
        fresh = _merged(server, target, _blank(target), config, options)
        if uid := fresh["metadata"].get("uid"):
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise errors.conflict(target.resource, target.name, why)
        fresh = _same_object(target, fresh)
        fresh["metadata"].pop("resourceVersion", None)
        return await creation.create(server, target.resource, target.namespace, fresh, settled), True

    def make(old: Json) -> Json:
        return _same_object(target, _merged(server, target, old, config, options))

    return await updating.change(server, target, make, settled), False


def _check_kind(config: Any, resource: Resource) -> None:
    """Who applies an object names its kind; nothing is filled in."""
    if not isinstance(config, dict) or resource.definition is not None:
        return
    api_version, kind = config.get("apiVersion") or "", config.get("kind") or ""
    if (api_version, kind) != (resource.api_version, resource.kind):
        group, _, version = api_version.rpartition("/")
        raise errors.bad_request(f"invalid object type: {group}/{version}, Kind={kind}")


def _merged(server: "ApiServer", target: Target, live: Json, config: Json, options: Options) -> Json:
    writer = managedfields.Writer(options.field_manager, target.resource.api_version, target.subresource)
    now = timestamp(server.now())
    try:
        return managedfields.apply(shape_of(target.resource), live, config, writer, now, force=options.force)
    except managedfields.ApplyConflict as error:
        conflict = errors.failure(409, "Conflict", str(error), {"causes": error.causes})
        raise conflict from None
    except managedfields.UntypedConfiguration as error:
        raise errors.failure(500, "", str(error)) from None
    except (managedfields.InvalidConfiguration, MalformedFields) as error:
        raise errors.bad_request(str(error)) from None


def _blank(target: Target) -> Json:
    metadata = {"name": target.name}
    if target.namespace:
        metadata["namespace"] = target.namespace
    return {"apiVersion": target.resource.api_version, "kind": target.resource.kind, "metadata": metadata}


def _read(target: Target, document: Patch, patched: Any, options: Options) -> Json:
    """The patched tree as an object; unlike a body that is none, it is refused with 422."""
    obj = _same_object(target, patched)
    try:
        return intake.read(target.resource, obj, options)
    except ApiError as error:
        text = str(error).partition(": ")[2]
        is_strategic = document.media_type == STRATEGIC_MERGE_PATCH
        shown = _as_go(document.body) if is_strategic else msgspec.json.encode(obj).decode()
        raise errors.invalid(_Nothing(), "", [causes.invalid("patch", shown, text)]) from None


def _as_go(value: Any) -> str:
    """A tree as Go's %+v prints it."""
    match value:
        case dict():
            return f"map[{' '.join(f'{name}:{_as_go(value[name])}' for name in sorted(value))}]"
        case list():
            return f"[{' '.join(_as_go(item) for item in value)}]"
        case bool():
            return "true" if value else "false"
        case None:
            return "<nil>"
    return str(value)


def _same_object(target: Target, patched: Any) -> Json:
    """The patched tree, which must still be the object that was asked for."""
    obj = body.typed(patched, target.resource)
    updating.check_address(target, obj)
    return obj


def _check_options(document: Patch, options: Options) -> None:
    found: list[Cause] = []
    if document.media_type == APPLY and not options.field_manager:
        found.append(causes.required("fieldManager", "is required for apply patch"))
    if document.media_type != APPLY and options.force:
        found.append(causes.forbidden("force", "may not be specified for non-apply patch"))
    if found:
        raise refused("PatchOptions", *found)
