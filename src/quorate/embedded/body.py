"""Request bodies: JSON or YAML text as a tree, refused with the server's words."""

import contextlib
from typing import Any

import msgspec
import yaml

from quorate.api.meta import Json
from quorate.embedded import protobuf
from quorate.embedded.errors import ApiError, bad_request, unroutable_media_type, unsupported_media_type
from quorate.embedded.options import Patch
from quorate.embedded.registry import Resource

ACCEPTED = ("application/json", "application/yaml", protobuf.MEDIA_TYPE)
_decode = msgspec.json.Decoder().decode


def decoded(data: bytes, content_type: str, *, kind: str = "") -> Any:
    """The tree of a body in any form that objects come in."""
    media_type = _media_type(content_type) or "application/json"
    if media_type not in ACCEPTED:
        raise unsupported_media_type(ACCEPTED)
    if media_type == protobuf.MEDIA_TYPE:
        return protobuf.decode(data)
    return _yaml(data) if media_type.endswith("yaml") else _json(data, kind)


def patch(data: bytes, content_type: str, accepted: tuple[str, ...], resource: Resource) -> Patch:
    media_type = _media_type(content_type)
    if media_type not in accepted:
        raise unroutable_media_type() if resource.definition is None else unsupported_media_type(accepted)
    return Patch(media_type, _yaml(data) if media_type.endswith("yaml") else _json(data, ""))


def _media_type(content_type: str) -> str:
    return content_type.split(";", 1)[0].strip().lower()


def typed(value: Any, resource: Resource) -> Json:
    """The tree as an object of the resource's kind; a missing kind or apiVersion is filled in."""
    if not isinstance(value, dict):
        raise _unrecognized(resource.kind, "the body is no object")
    kind, api_version = value.get("kind") or resource.kind, value.get("apiVersion") or resource.api_version
    if (kind, api_version) != (resource.kind, resource.api_version):
        raise bad_request(_mismatch(kind, api_version, resource))
    if not isinstance(value.get("metadata") or {}, dict):
        raise bad_request(
            f'{kind} in version "{resource.version}" cannot be handled as a {kind}: metadata is no object'
        )
    return {**value, "kind": kind, "apiVersion": api_version}


def _mismatch(kind: str, api_version: str, resource: Resource) -> str:
    group, _, version = api_version.rpartition("/")
    if group == resource.group and version != resource.version and resource.definition is None:
        why = f'no kind "{kind}" is registered for version "{api_version}"'
    elif resource.definition is None:
        package = group.partition(".")[0] or "core"
        why = f"converting ({version}.{kind}) to ({package}.{resource.kind}): unknown conversion"
    else:
        return (
            f"the API version in the data ({api_version}) does not match the expected API version "
            f"({resource.api_version})"
        )
    return f'{kind} in version "{version}" cannot be handled as a {resource.kind}: {why}'


def _json(data: bytes, kind: str) -> Any:
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        why = "unexpected end of JSON input" if "truncated" in str(error) else str(error)
        raise _unrecognized(kind, why) from None


def _unrecognized(kind: str, why: str) -> ApiError:
    place = f"the object provided is unrecognized (must be of type {kind}): " if kind else ""
    return bad_request(f"{place}couldn't get version/kind; json parse error: {why}")


class _Loader(yaml.CSafeLoader):
    """YAML as JSON has it: a date is text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _yaml(data: bytes) -> Any:
    if data.lstrip()[:1] == b"{":
        # Most clients that say YAML send JSON, which reads a hundred times faster.
        with contextlib.suppress(msgspec.DecodeError):
            return _decode(data)
    try:
        return yaml.load(data, Loader=_Loader)  # noqa: S506 a safe loader
    except yaml.YAMLError as error:
        raise bad_request(f"error decoding YAML: {' '.join(str(error).split())}") from None
