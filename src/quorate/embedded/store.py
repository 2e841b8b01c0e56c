"""All objects of the cluster, with one revision counter and the recent history of each resource.

1. An object in the store is never changed in place; a write puts another one in its stead.
2. Every write takes the next revision, and `metadata.resourceVersion` is that revision.
3. Every write is one event; who listens sees all events of a resource in order, or is cut off, never a gap.
4. All calls are synchronous on one event loop: between two awaits the store does not change.

The verbs of `apiserver.py` decide what is written; `persistence.py` writes it to disk; watches subscribe.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from quorate.api.meta import Json
from quorate.embedded.shelf import Entry, Shelf
from quorate.embedded.subscription import Subscription

encode = msgspec.json.Encoder().encode

# Events kept for each resource, so that watches and paged lists can go on from a past revision; as many as there are
# objects, if that is more: who reads them all at the start must be able to go on from there.
HISTORY = 10_000


class Key(NamedTuple):
    group: str
    plural: str
    namespace: str
    name: str


class StoreError(Exception):
    """A write that does not fit what is stored.

    AbsentError   nothing is stored under the key
    PresentError  something is stored under the key already
    StaleError    the stored object is not at the expected revision
    TooOldError   the history does not reach back to the revision
    """


class AbsentError(StoreError): ...


class PresentError(StoreError): ...


class StaleError(StoreError): ...


class TooOldError(StoreError):
    def __init__(self, revision: int, oldest: int) -> None:
        super().__init__(f"too old resource version: {revision} ({oldest})")


class Event:
    """One write: what is stored now (a deletion: what was, at its revision) and what was before."""

    __slots__ = ("before", "entry", "frame", "key", "type")

    def __init__(
        self, type_: Literal["ADDED", "MODIFIED", "DELETED"], key: Key, entry: Entry, before: Entry | None
    ) -> None:
        self.type = type_
        self.key = key
        self.entry = entry
        self.before = before
        # The line a plain watch sends for this event, built by the first watch that sends it.
        self.frame: bytes | None = None

    @property
    def revision(self) -> int:
        return self.entry.revision

    @property
    def object(self) -> Json:
        return self.entry.object

    @property
    def previous(self) -> Json | None:
        return self.before.object if self.before is not None else None


class Store:
    def __init__(self, *, history: int | None = None) -> None:
        """`history` keeps exactly so many events of each resource."""
        self.revision = 1
        # The revision the process started at: nothing before it can be told.
        self.floor = 1
        self._history = history
        self._shelves: dict[tuple[str, str], Shelf[Event]] = {}
        self._listeners: list[Callable[[Event], None]] = []

    def restore(self, objects: Iterable[tuple[Key, Json]], revision: int) -> None:
        """Start from saved objects, at a revision no client has seen; older watches must list again.

        Listeners hear of each object as if it came now; nobody can have subscribed yet.
        """
        self.revision = self.floor = revision
        for key, obj in objects:
            entry = Entry(obj, int(obj["metadata"]["resourceVersion"]), encode(obj))
            self._shelf(key.group, key.plural).put(key.namespace, key.name, entry)
            for listener in self._listeners:
                listener(Event("ADDED", key, entry, None))

    def get(self, key: Key) -> Json | None:
        entry = self.entry(key)
        return entry.object if entry is not None else None

    def entry(self, key: Key) -> Entry | None:
        return self._shelf(key.group, key.plural).get(key.namespace, key.name)

    def list(self, group: str, plural: str, namespace: str | None = None) -> Sequence[Json]:
        """Objects in key order; no namespace means all of them."""
        return [entry.object for _, _, entry in self.entries(group, plural, namespace)]

    def entries(
        self, group: str, plural: str, namespace: str | None = None, *, after: tuple[str, str] = ("", "")
    ) -> Iterator[tuple[str, str, Entry]]:
        """Namespace, name and entry in key order, from the first key after `after`."""
        return self._shelf(group, plural).walk(namespace or None, after)

    def entries_at(self, group: str, plural: str, revision: int) -> Shelf[Event]:
        """The shelf as it was at a past revision, rebuilt by undoing what came since."""
        past = self._shelf(group, plural).copy()
        for event in self._since(group, plural, revision)[::-1]:
            if event.before is None:
                past.remove(event.key.namespace, event.key.name)
            else:
                past.put(event.key.namespace, event.key.name, event.before)
        return past

    def count(self, group: str, plural: str) -> int:
        return self._shelf(group, plural).count()

    def resources(self) -> Sequence[tuple[str, str]]:
        """Group and plural of everything that is stored."""
        return [resource for resource, shelf in self._shelves.items() if shelf.count()]

    def create(self, key: Key, obj: Json) -> Json:
        if self.entry(key) is not None:
            raise PresentError(key)
        return self._write("ADDED", key, obj, None)

    def update(self, key: Key, obj: Json, expected: int | None = None) -> Json:
        return self._write("MODIFIED", key, obj, self._expect(key, expected))

    def delete(self, key: Key, expected: int | None = None) -> Json:
        before = self._expect(key, expected)
        return self._write("DELETED", key, before.object, before)

    def subscribe(
        self, group: str, plural: str, since: int, *, limit: int | None = None
    ) -> Subscription[Event]:
        """All events after a revision, past ones first; cut off when more than `limit` wait to be read."""
        past = self._since(group, plural, since)
        shelf = self._shelf(group, plural)
        limit = self._kept(shelf) if limit is None else limit
        subscription = Subscription[Event](past, limit + len(past), since)
        shelf.subscriptions.append(subscription)
        subscription.on_close(lambda: shelf.subscriptions.remove(subscription))
        return subscription

    def subscriptions(self, group: str, plural: str) -> Sequence[Subscription[Event]]:
        """Who follows a resource at the moment."""
        return self._shelf(group, plural).subscriptions

    def on_event(self, listener: Callable[[Event], None]) -> None:
        """Call at once with every event of every resource, in order."""
        self._listeners.append(listener)

    def close(self) -> None:
        """End all subscriptions."""
        for shelf in self._shelves.values():
            for subscription in tuple(shelf.subscriptions):
                subscription.close()

    def _shelf(self, group: str, plural: str) -> Shelf[Event]:
        shelf = self._shelves.get((group, plural))
        if shelf is None:
            # A resource without events has nothing to miss: any revision up to now can be watched from.
            shelf = self._shelves[group, plural] = Shelf(deque(), self.floor)
        return shelf

    def _expect(self, key: Key, expected: int | None) -> Entry:
        before = self.entry(key)
        if before is None:
            raise AbsentError(key)
        if expected is not None and before.revision != expected:
            raise StaleError(key)
        return before

    def _since(self, group: str, plural: str, revision: int) -> Sequence[Event]:
        shelf = self._shelf(group, plural)
        if revision < shelf.oldest:
            raise TooOldError(revision, shelf.oldest)
        events = deque[Event]()
        for event in reversed(shelf.history):
            if event.revision <= revision:
                break
            events.appendleft(event)
        return tuple(events)

    def _write(
        self, type_: Literal["ADDED", "MODIFIED", "DELETED"], key: Key, obj: Json, before: Entry | None
    ) -> Json:
        self.revision += 1
        metadata = {**obj["metadata"], "resourceVersion": str(self.revision)}
        # Kind and apiVersion come first: lists of built-in kinds cut them off the stored bytes.
        head = {"kind": obj["kind"], "apiVersion": obj["apiVersion"], "metadata": metadata}
        obj = {**head, **obj, "metadata": metadata}
        event = Event(type_, key, Entry(obj, self.revision, encode(obj)), before)
        shelf = self._shelf(key.group, key.plural)
        if type_ == "DELETED":
            shelf.remove(key.namespace, key.name)
        else:
            shelf.put(key.namespace, key.name, event.entry)
        self._remember(shelf, event)
        for subscription in tuple(shelf.subscriptions):
            subscription.offer(event)
        for listener in self._listeners:
            listener(event)
        return obj

    def _remember(self, shelf: Shelf[Event], event: Event) -> None:
        shelf.history.append(event)
        if len(shelf.history) > (self._history or HISTORY) and len(shelf.history) > self._kept(shelf):
            shelf.oldest = shelf.history.popleft().revision

    def _kept(self, shelf: Shelf[Event]) -> int:
        return self._history or max(HISTORY, shelf.count())
