"""List-and-watch: keeps one `Cache` equal to the server, whatever happens to the connection.

1. The start is a watch-list (`sendInitialEvents`) where the server has it, else a paged list. A watch of its own
   follows: what comes later in a watch-list costs a kube-apiserver more.
2. A watch that ends, breaks in mid-line or falls silent is opened again at the last revision seen.
3. `Gone`, and any other refusal of the revision, means a new start; the cache keeps its objects meanwhile
   and learns by comparison what was deleted.
4. An object that does not decode is rejected by name; the watch goes on.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Generic

import aiohttp
import msgspec

from quorate.api.meta import Wire
from quorate.kube import metrics
from quorate.kube.cache import Cache, Key, T, key_of
from quorate.kube.client import Client
from quorate.kube.errors import (
    AnswerUnreadable,
    BadRequest,
    ConnectionLost,
    Forbidden,
    Gone,
    Invalid,
    KubeError,
    NotFound,
    ServerFailed,
    Status,
    error_of,
    translate,
)
from quorate.kube.resources import Reader, pages, watch_request
from quorate.kube.retry import delays

log = logging.getLogger(__name__)

INITIAL_END = "k8s.io/initial-events-end"
# a server sends a bookmark about each minute
SILENCE_SECONDS = 150.0
# an old server ignores `sendInitialEvents` and never says that the start is over
START_SILENCE_SECONDS = 20.0
CAP_SECONDS = 30.0
# a watch that lasted so long ended in good order: the next one need not wait
HEALTHY_SECONDS = 10.0


class Envelope(Wire):
    """One line of a watch; the object stays undecoded until the type of the event is known."""

    type: str
    object: msgspec.Raw


class MarkMeta(Wire):
    """The metadata that can be relied on when the rest of an object is null or does not decode."""

    namespace: str = ""
    name: str = ""
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class Mark(Wire):
    metadata: MarkMeta = msgspec.field(default_factory=MarkMeta)

    @property
    def key(self) -> Key:
        return self.metadata.namespace, self.metadata.name


READ_ENVELOPE = Reader(Envelope)
READ_MARK = Reader(Mark)
READ_STATUS = Reader(Status)


class StartUnsupported(KubeError):  # noqa: N818 - named by its cause, as in errors.py
    """The server has no watch-list."""


class Reflector(Generic[T]):
    """`optional` treats a kind that is not served as empty, and looks again from time to time."""

    def __init__(
        self,
        client: Client,
        cache: Cache[T],
        shape: type[T],
        *,
        optional: bool = False,
        silence: float = SILENCE_SECONDS,
    ) -> None:
        self._client = client
        self._cache = cache
        self._read = Reader(shape)
        self._optional = optional
        self._silence = silence
        self._watch_list = True
        self._chance = random.Random()  # noqa: S311 - jitter needs no secrecy
        self._revision = ""
        resource = cache.scope.kind.resource
        self._events = metrics.WATCH_EVENTS.labels(resource)
        self._last_event = metrics.WATCH_LAST_EVENT.labels(resource)

    async def run(self) -> None:
        """Runs until cancelled."""
        loop = asyncio.get_running_loop()
        waits = delays(self._chance, cap=CAP_SECONDS)
        while True:
            seen, began = self._revision, loop.time()
            try:
                await self._start_and_follow()
            except KubeError as error:
                self._note(error)
            if self._revision != seen or loop.time() - began > HEALTHY_SECONDS:
                waits = delays(self._chance, cap=CAP_SECONDS)
            await asyncio.sleep(next(waits))

    async def _start_and_follow(self) -> None:
        if not self._revision:
            self._revision = await self._start()
        try:
            await self._follow()
        except (Gone, BadRequest, Invalid, ServerFailed, AnswerUnreadable):
            self._revision = ""
            raise

    def _note(self, error: KubeError) -> None:
        cause = type(error).__name__
        metrics.WATCH_RESTARTS.labels(self._cache.scope.kind.resource, cause).inc()
        if isinstance(error, NotFound) and self._optional:
            self._cache.replace((), {}, "")
        elif not isinstance(error, ConnectionLost | Gone):
            hint = "; install its CustomResourceDefinition" if isinstance(error, NotFound) else ""
            problem = f"{cause}: {error}{hint}"
            if self._cache.problem != problem:
                log.warning("cannot watch %s: %s", self._cache.scope, problem)
            self._cache.problem = problem

    async def _start(self) -> str:
        if self._watch_list:
            try:
                return await self._start_by_watch()
            except StartUnsupported as error:
                log.info("%s: %s; starting from a list", self._cache.scope, error)
                self._watch_list = False
        return await self._start_by_list()

    async def _start_by_watch(self) -> str:
        query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        found: dict[Key, T] = {}
        rejected: dict[Key, str] = {}
        try:
            async for batch in self._batches(query, START_SILENCE_SECONDS):
                for event in batch:
                    if event.type == "BOOKMARK":
                        mark = READ_MARK(event.object).metadata
                        if INITIAL_END in (mark.annotations or {}):
                            self._cache.replace(found.values(), rejected, mark.resource_version)
                            return mark.resource_version
                    else:
                        self._collect(event, found, rejected)
        except (BadRequest, Invalid, Forbidden, ConnectionLost) as error:
            if isinstance(error, Forbidden) and "sendInitialEvents" not in str(error):
                raise
            raise StartUnsupported(str(error)) from error
        raise StartUnsupported("the watch ended before its initial events did")

    def _collect(self, event: Envelope, found: dict[Key, T], rejected: dict[Key, str]) -> None:
        thing = self._decode(event.object, rejected)
        if thing is None:
            return
        if event.type == "DELETED":
            found.pop(key_of(thing), None)
        else:
            found[key_of(thing)] = thing

    def _decode(self, raw: msgspec.Raw, rejected: dict[Key, str]) -> T | None:
        try:
            return self._read(raw)
        except AnswerUnreadable as error:
            rejected[READ_MARK(raw).key] = str(error)
            return None

    async def _start_by_list(self) -> str:
        found: list[T] = []
        rejected: dict[Key, str] = {}
        revision = ""
        async for page in pages(self._client, self._cache.scope):
            revision = page.metadata.resource_version
            decoded = (self._decode(raw, rejected) for raw in page.items or ())
            found.extend(thing for thing in decoded if thing is not None)
        self._cache.replace(found, rejected, revision)
        return revision

    async def _follow(self) -> None:
        query = {"resourceVersion": self._revision, "timeoutSeconds": str(self._chance.randint(300, 600))}
        with suppress(ConnectionLost):
            async for batch in self._batches(query, self._silence):
                self._cache.problem = ""
                for event in batch:
                    self._take(event)

    def _take(self, event: Envelope) -> None:
        if event.type == "BOOKMARK":
            self._advance(READ_MARK(event.object).metadata.resource_version)
            return
        try:
            thing = self._read(event.object)
        except AnswerUnreadable as error:
            mark = READ_MARK(event.object)
            self._cache.reject(mark.key, str(error))
            self._advance(mark.metadata.resource_version)
            return
        if event.type == "DELETED":
            self._cache.drop(key_of(thing))
        else:
            self._cache.put(thing)
        self._advance(thing.metadata.resource_version)

    def _advance(self, revision: str) -> None:
        self._revision = self._cache.revision = revision

    async def _batches(self, query: dict[str, str], silence: float) -> AsyncIterator[list[Envelope]]:
        """The events of one watch, as many at once as arrived together."""
        request = watch_request(self._cache.scope, query)
        async with self._client.stream(request, silence=silence) as content:
            async for lines in whole_lines(content):
                events = [READ_ENVELOPE(line, "watch event") for line in lines if line]
                self._events.inc(len(events))
                self._last_event.set_to_current_time()
                if events and events[-1].type == "ERROR":
                    yield events[:-1]
                    raise error_of(READ_STATUS(events[-1].object))
                yield events
                await asyncio.sleep(0)  # a busy watch must not starve the rest of the process


async def whole_lines(content: aiohttp.StreamReader) -> AsyncIterator[list[bytes]]:
    """Complete lines only: what was cut off in mid-line comes again after the resume."""
    rest = b""
    while True:
        try:
            chunk = await content.readany()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise translate(error, "watch") from error
        if not chunk:
            return
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        yield lines
