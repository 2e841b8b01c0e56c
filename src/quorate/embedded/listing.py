"""Lists: pages in key order, all from one revision, with tokens that find the next page.

A page after the first is read from the shelf as it was at the first page's revision, rebuilt from the recent
history; when the history no longer reaches back the answer is 410 with a token that goes on from the present.
"""

import base64
import binascii
from typing import NamedTuple

import msgspec

from quorate.api.meta import Json
from quorate.embedded.errors import ApiError, bad_request, gone, not_a_number
from quorate.embedded.options import ListOptions
from quorate.embedded.registry import Resource
from quorate.embedded.shelf import Entry
from quorate.embedded.store import Store, TooOldError

_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list"
    " without the continue parameter, or use the continue token in this response to retrieve the remainder of"
    " the results. Continuing with the provided token results in an inconsistent list - objects that were"
    " created, modified, or deleted between the time the first chunk was returned and now may show up in the"
    " list."
)


class Page(NamedTuple):
    entries: list[Entry]
    revision: int
    continue_token: str = ""
    # Only told for lists without selectors, as counting the rest would need matching all of it.
    remaining: int | None = None

    @property
    def objects(self) -> list[Json]:
        return [entry.object for entry in self.entries]

    @property
    def metadata(self) -> Json:
        metadata: Json = {"resourceVersion": str(self.revision)}
        if self.continue_token:
            metadata["continue"] = self.continue_token
        if self.remaining is not None:
            metadata["remainingItemCount"] = self.remaining
        return metadata


class _Position(msgspec.Struct, rename="lower", omit_defaults=True):
    """What a continue token says: the revision of the first page (-1: the present) and the last key shown."""

    v: str
    rv: int
    ns: str
    name: str


def page(store: Store, resource: Resource, namespace: str, options: ListOptions) -> Page:
    _check(options, store.revision)
    if options.continue_token:
        return _next_page(store, resource, namespace, options)
    if options.match == "Exact":
        revision = int(options.resource_version)
        return _cut(store, resource, namespace, options, _Position("q1", revision, "", ""))
    return _cut(store, resource, namespace, options, _Position("q1", -1, "", ""))


def _next_page(store: Store, resource: Resource, namespace: str, options: ListOptions) -> Page:
    position = _read(options.continue_token)
    try:
        return _cut(store, resource, namespace, options, position)
    except ApiError as error:
        if error.code == 410:
            error.status["message"] = _EXPIRED
            position.rv = -1
            error.status["metadata"] = {"continue": _write(position)}
        raise


def _cut(store: Store, resource: Resource, namespace: str, options: ListOptions, position: _Position) -> Page:
    revision = position.rv if position.rv > 0 else store.revision
    after = (position.ns, position.name)
    if revision == store.revision:
        walk = store.entries(resource.group, resource.plural, namespace, after=after)
    else:
        try:
            past = store.entries_at(resource.group, resource.plural, revision)
        except TooOldError as error:
            raise gone(f"The resourceVersion for the provided list is too old: {error}") from None
        walk = past.walk(namespace or None, after)
    selection = options.selection
    # As on the real server, whose cache serves lists "at any revision" whole.
    limit = 0 if options.resource_version == "0" else options.limit
    found: list[Entry] = []
    last = after
    for space, name, entry in walk:
        if not selection.everything and not selection.matches(entry.object):
            continue
        if limit and len(found) == limit:
            token = _write(_Position("q1", revision, *last))
            remaining = 1 + sum(1 for _ in walk) if selection.everything else None
            return Page(found, revision, token, remaining)
        found.append(entry)
        last = (space, name)
    return Page(found, revision)


def _check(options: ListOptions, revision: int) -> None:
    version = options.resource_version
    if version and not version.isdigit():
        raise bad_request(
            f'invalid resource version: resourceVersion: Invalid value: "{version}": {not_a_number(version)}'
        )
    if options.match == "Exact" and version in {"", "0"}:
        raise bad_request('resourceVersionMatch "Exact" is forbidden for resourceVersion "0"')
    if options.continue_token and version not in {"", "0"}:
        raise bad_request("specifying resource version is not allowed when using continue")
    if version and int(version) > revision:
        raise _too_large(int(version), revision)


def _too_large(asked: int, current: int) -> ApiError:
    error = bad_request(f"Too large resource version: {asked}, current: {current}")
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    error.status |= {"code": 504, "reason": "Timeout"}
    error.status["message"] = f"Timeout: Too large resource version: {asked}, current: {current}"
    error.status["details"] = {"causes": [cause], "retryAfterSeconds": 1}
    return error


def _write(position: _Position) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).decode().rstrip("=")


def _read(token: str) -> _Position:
    try:
        data = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        position = msgspec.json.decode(data, type=_Position)
    except (binascii.Error, msgspec.DecodeError, ValueError):
        raise bad_request("invalid continue token: continue key is not valid") from None
    if position.v != "q1":
        raise bad_request("invalid continue token: continue key is not valid: it has another version")
    return position
