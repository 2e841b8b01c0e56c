"""The objects of one resource by namespace and name, walked in the order of their keys.

`store.py` keeps one for each resource, with its recent events and the subscriptions to it.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from quorate.api.meta import Json

if TYPE_CHECKING:
    from quorate.embedded.subscription import Subscription

EventT = TypeVar("EventT")


class Entry:
    """A stored object with its revision and its bytes, which lists, gets and watches send as they are."""

    __slots__ = ("object", "raw", "revision")

    def __init__(self, obj: Json, revision: int, raw: bytes) -> None:
        self.object = obj
        self.revision = revision
        self.raw = raw


class Shelf(Generic[EventT]):
    def __init__(self, history: deque[EventT], oldest: int) -> None:
        self.history = history
        # The oldest revision that the history can go on from.
        self.oldest = oldest
        self.subscriptions: list[Subscription[EventT]] = []
        self._namespaces: dict[str, dict[str, Entry]] = {}
        # Sorted names, dropped when a name comes or goes and sorted again by the next walk.
        self._order: dict[str, list[str]] = {}

    def copy(self) -> "Shelf[EventT]":
        """The same objects on another shelf, without history and subscriptions."""
        twin: Shelf[EventT] = Shelf(deque(), self.oldest)
        twin._namespaces = {namespace: dict(names) for namespace, names in self._namespaces.items()}
        return twin

    def get(self, namespace: str, name: str) -> Entry | None:
        names = self._namespaces.get(namespace)
        return names.get(name) if names is not None else None

    def put(self, namespace: str, name: str, entry: Entry) -> None:
        names = self._namespaces.setdefault(namespace, {})
        if name not in names:
            self._order.pop(namespace, None)
        names[name] = entry

    def remove(self, namespace: str, name: str) -> None:
        names = self._namespaces[namespace]
        del names[name]
        self._order.pop(namespace, None)
        if not names:
            del self._namespaces[namespace]

    def count(self) -> int:
        return sum(len(names) for names in self._namespaces.values())

    def walk(
        self, namespace: str | None, after: tuple[str, str] = ("", "")
    ) -> Iterator[tuple[str, str, Entry]]:
        # Keys sort as "namespace/name", where "/" comes after "-": a-b sorts before a.
        for space in [namespace] if namespace is not None else sorted(self._namespaces, key=_as_prefix):
            if _as_prefix(space) < _as_prefix(after[0]):
                continue
            names = self._namespaces.get(space, {})
            order = self._sorted(space, names)
            start = bisect_right(order, after[1]) if space == after[0] else 0
            for name in order[start:]:
                yield space, name, names[name]

    def _sorted(self, namespace: str, names: dict[str, Entry]) -> list[str]:
        order = self._order.get(namespace)
        if order is None:
            order = self._order[namespace] = sorted(names)
        return order


def _as_prefix(namespace: str) -> str:
    return f"{namespace}/"
