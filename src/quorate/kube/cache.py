"""What is known of one kind of object: the watch's view, with what we did but have not seen yet laid over it.

`watch.py` fills a cache; controllers read it, look things up by index and subscribe to changes. An
assumption (`assume`) shows an object as our own accepted write will leave it, until the watch shows that
too, the write fails (`forget`) or the patience runs out (`expire`).
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from quorate.api.meta import ObjectMeta
from quorate.kube import metrics
from quorate.kube.resources import Scope

log = logging.getLogger(__name__)


class HasMetadata(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...


T = TypeVar("T", bound=HasMetadata)
Key = tuple[str, str]


def key_of(thing: HasMetadata) -> Key:
    return thing.metadata.namespace, thing.metadata.name


@dataclass(slots=True)
class Assumption(Generic[T]):
    """`change` is laid over every version the watch shows until `shown` holds for one."""

    change: Callable[[T], T]
    shown: Callable[[T], bool]
    until: float
    base: T


class Index(Generic[T]):
    """Objects by the values a function finds in them (an owner's UID, a node's name, a gang's key)."""

    def __init__(self, values: Callable[[T], Collection[str]]) -> None:
        self._values = values
        self._found: dict[str, dict[Key, T]] = {}

    def __getitem__(self, value: str) -> list[T]:
        return list(self._found.get(value, {}).values())

    def move(self, key: Key, old: T | None, new: T | None) -> None:
        before = self._values(old) if old is not None else ()
        after = self._values(new) if new is not None else ()
        for value in before:
            if value not in after and (bucket := self._found.get(value)) is not None:
                bucket.pop(key, None)
                if not bucket:
                    del self._found[value]
        if new is not None:
            for value in after:
                self._found.setdefault(value, {})[key] = new


class Cache(Generic[T]):
    """Objects of one scope by (namespace, name); `revision` is the last one the watch showed."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.revision = ""
        self.synced = asyncio.Event()
        self.problem = ""  # why the watch does not work now, for readiness and messages
        self.rejected: dict[Key, str] = {}
        self._objects: dict[Key, T] = {}
        self._assumed: dict[Key, Assumption[T]] = {}
        self._indexes: dict[Callable[[T], Collection[str]], Index[T]] = {}
        self._subscribers: list[Callable[[T | None, T | None], None]] = []
        self._size = metrics.CACHE_OBJECTS.labels(scope.kind.resource)

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[T]:
        return iter(self._objects.values())

    def get(self, namespace: str, name: str) -> T | None:
        return self._objects.get((namespace, name))

    def index(self, values: Callable[[T], Collection[str]]) -> Index[T]:
        """One index for each function, however many ask."""
        if values not in self._indexes:
            index = self._indexes[values] = Index(values)
            for key, thing in self._objects.items():
                index.move(key, None, thing)
        return self._indexes[values]

    def subscribe(self, changed: Callable[[T | None, T | None], None]) -> None:
        """Call `changed(old, new)` at each change from now on, and now for what is here already."""
        for thing in self._objects.values():
            changed(None, thing)
        self._subscribers.append(changed)

    def assume(self, thing: T, *, change: Callable[[T], T], shown: Callable[[T], bool], until: float) -> bool:
        """Show `thing` as changed; false if it is gone, replaced, or shows the change already."""
        key = key_of(thing)
        current = self._objects.get(key)
        if current is None or current.metadata.uid != thing.metadata.uid or shown(current):
            return False
        pending = self._assumed.get(key)
        self._assumed[key] = Assumption(change, shown, until, pending.base if pending else current)
        self._show(key, change(current))
        return True

    def forget(self, namespace: str, name: str) -> None:
        """Take an assumption back: show what the watch showed last."""
        assumption = self._assumed.pop((namespace, name), None)
        if assumption is not None:
            self._show((namespace, name), assumption.base)

    def doubt(self, namespace: str, name: str, until: float) -> None:
        """The write may have failed: keep the assumption, but not beyond `until`."""
        assumption = self._assumed.get((namespace, name))
        if assumption is not None:
            assumption.until = min(assumption.until, until)

    def expire(self, now: float) -> list[Key]:
        """Forget what the watch did not confirm in time; its keys, because something is wrong with them."""
        late = [key for key, assumption in self._assumed.items() if assumption.until <= now]
        for key in late:
            self.forget(*key)
        return late

    @property
    def assumed(self) -> int:
        return len(self._assumed)

    def put(self, thing: T) -> None:
        """The watch shows this version."""
        key = key_of(thing)
        self.rejected.pop(key, None)
        assumption = self._assumed.get(key)
        if assumption is None:
            self._show(key, thing)
        elif assumption.base.metadata.uid != thing.metadata.uid or assumption.shown(thing):
            del self._assumed[key]
            self._show(key, thing)
        else:
            assumption.base = thing
            self._show(key, assumption.change(thing))

    def drop(self, key: Key) -> None:
        """The watch shows that the object is gone."""
        self._assumed.pop(key, None)
        self.rejected.pop(key, None)
        self._show(key, None)

    def reject(self, key: Key, reason: str) -> None:
        """The object exists but cannot be read; it is as good as absent, and said so."""
        self.drop(key)
        self.rejected[key] = reason
        metrics.UNREADABLE.labels(self.scope.kind.resource).inc()
        log.warning("%s %s cannot be read: %s", self.scope.kind, "/".join(filter(None, key)), reason)

    def replace(self, things: Iterable[T], rejected: dict[Key, str], revision: str) -> None:
        """A whole list at one revision: what is not in it is gone."""
        present = {key_of(thing): thing for thing in things}
        for key in [key for key in self._objects if key not in present]:
            self.drop(key)
        for key, thing in present.items():
            known = self._assumed[key].base if key in self._assumed else self._objects.get(key)
            if known is None or known.metadata.resource_version != thing.metadata.resource_version:
                self.put(thing)
        self.rejected.clear()
        for key, reason in rejected.items():
            self.reject(key, reason)
        self.revision = revision
        self.problem = ""
        self.synced.set()

    def _show(self, key: Key, new: T | None) -> None:
        old = self._objects.get(key)
        if old is None and new is None:
            return
        if new is None:
            del self._objects[key]
        else:
            self._objects[key] = new
        for index in self._indexes.values():
            index.move(key, old, new)
        if old is None or new is None:
            self._size.set(len(self._objects))
        for changed in self._subscribers:
            changed(old, new)
