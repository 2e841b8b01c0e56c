"""Watches: the events of one resource as lines of JSON, seen through a selection.

An object that begins to match appears as ADDED, one that stops matching as DELETED. A revision too old
is refused with 410; a reader that is too slow is cut off with an ERROR event of that code, and lists again.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

import msgspec

from quorate.api.meta import Json
from quorate.embedded.errors import ApiError, gone, not_a_number, unknown
from quorate.embedded.options import WatchOptions
from quorate.embedded.registry import Resource
from quorate.embedded.representation import served, served_raw
from quorate.embedded.selectors import Selection
from quorate.embedded.shelf import Entry
from quorate.embedded.store import Event, Store, TooOldError

if TYPE_CHECKING:
    from quorate.embedded.subscription import Subscription

_encode = msgspec.json.Encoder().encode
BOOKMARK_SECONDS = 60.0
# A watch that ends by itself gets its last bookmark this long before.
_LAST_BOOKMARK_SECONDS = 2.0


class Watch:
    """An open watch; iterate `lines()` to serve it and `close()` it in any case."""

    def __init__(
        self,
        store: Store,
        resource: Resource,
        namespace: str,
        options: WatchOptions,
        shown: Callable[[Json], Json] | None = None,
    ) -> None:
        """`shown` turns each object into what is sent for it; without it the stored bytes are sent."""
        self._shown = shown
        self._store = store
        self._resource = resource
        self._namespace = namespace
        self._options = options
        self._initial, since = self._start()
        self._sent = since
        try:
            self._subscription: Subscription[Event] = store.subscribe(
                resource.group, resource.plural, since, limit=options.buffer
            )
        except TooOldError as error:
            raise gone(str(error)) from None

    def close(self) -> None:
        self._subscription.close()

    async def lines(self) -> AsyncIterator[bytes]:
        """Chunks of whole lines until the watch times out, is cut off or the server ends."""
        if self._initial:
            yield self._initial
        try:
            timeout = self._options.timeout_seconds or None
            deadline = None if timeout is None else asyncio.get_running_loop().time() + timeout
            async for chunk in self._events(deadline):
                yield chunk
        finally:
            self.close()
        if self._subscription.overflowed:
            yield error_line(gone("the watch was too slow to read its events"))

    async def _events(self, deadline: float | None) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        while True:
            left = math.inf if deadline is None else deadline - loop.time()
            if left <= 0:
                return
            is_last = left <= _LAST_BOOKMARK_SECONDS
            events = await self._subscription.batch(
                left if is_last else min(BOOKMARK_SECONDS, left - _LAST_BOOKMARK_SECONDS)
            )
            if not events and self._subscription.closed:
                return
            if not events and self._options.bookmarks and not is_last:
                # The client's next watch can begin here instead of at the last event it saw.
                yield self._bookmark(self._store.revision)
            chunk = b"".join([line for event in events if (line := self._line(event))])
            if chunk:
                yield chunk

    def _start(self) -> tuple[bytes, int]:
        """What is sent before any event, and the revision that events follow."""
        options, revision = self._options, self._store.revision
        version = options.resource_version
        if version and not version.isdigit():
            raise unknown(f'resourceVersion: Invalid value: "{version}": {not_a_number(version)}')
        if options.send_initial_events:
            return self._snapshot() + self._bookmark(revision, initial_end=True), revision
        if version in {"", "0"}:
            return self._snapshot(), revision
        return b"", int(version)

    def _snapshot(self) -> bytes:
        entries = self._store.entries(self._resource.group, self._resource.plural, self._namespace)
        selection = self._options.selection
        return b"".join(
            [
                _framed(b"ADDED", self._raw(entry))
                for _, _, entry in entries
                if selection.everything or selection.matches(entry.object)
            ]
        )

    def _line(self, event: Event) -> bytes:
        if self._namespace and event.key.namespace != self._namespace:
            return b""
        if not self._options.selection.everything:
            type_ = transition(event, self._options.selection)
            if not type_:
                return b""
            if type_ == b"DELETED" and event.before is not None and event.type != "DELETED":
                return _framed(type_, self._raw(_as_it_matched(event.before, event.revision)))
            return _framed(type_, self._raw(event.entry))
        if self._shown or event.entry.object["apiVersion"] != self._resource.api_version:
            return _framed(event.type.encode(), self._raw(event.entry))
        if event.frame is None:
            event.frame = _framed(event.type.encode(), event.entry.raw)
        return event.frame

    def _raw(self, entry: Entry) -> bytes:
        if self._shown is None:
            return served_raw(self._resource, entry)
        return _encode(self._shown(served(self._resource, entry.object)))

    def _bookmark(self, revision: int, *, initial_end: bool = False) -> bytes:
        metadata: Json = {"resourceVersion": str(revision)}
        if initial_end:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        marker = {"kind": self._resource.kind, "apiVersion": self._resource.api_version, "metadata": metadata}
        return _framed(b"BOOKMARK", _encode(marker))


def transition(event: Event, selection: Selection) -> bytes:
    """The event as seen through a selection; empty where it is not seen."""
    before = event.before is not None and selection.matches(event.before.object)
    after = event.type != "DELETED" and selection.matches(event.entry.object)
    match before, after:
        case False, True:
            return b"ADDED"
        case True, True:
            return b"MODIFIED"
        case True, False:
            return b"DELETED"
    return b""


def _as_it_matched(before: Entry, revision: int) -> Entry:
    """The last state that was seen, at the revision that ended it."""
    metadata = {**before.object["metadata"], "resourceVersion": str(revision)}
    obj = {**before.object, "metadata": metadata}
    return Entry(obj, revision, _encode(obj))


def error_line(error: ApiError) -> bytes:
    return _framed(b"ERROR", _encode(error.status))


def _framed(type_: bytes, raw: bytes) -> bytes:
    return b'{"type":"' + type_ + b'","object":' + raw + b"}\n"
