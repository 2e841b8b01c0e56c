"""Writes of one's own that the caches do not show yet: a pass on a key begins when all of its last are seen.

Without this a controller that counts what exists would create or remove a second time what it just did. What
never shows (a write that changed nothing, an object gone at once) is not waited for beyond `PATIENCE_SECONDS`.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from quorate.api.meta import ObjectMeta
from quorate.kube.apply import target_of
from quorate.kube.outcome import Outcome, Result
from quorate.plan import Apply, Change, Create, Delete, Patch, Ref, SetStatus

PATIENCE_SECONDS = 5.0
K = TypeVar("K", bound=Hashable)
Look = Callable[[Ref], ObjectMeta | None]


class Awaited(Generic[K]):
    """`look` finds an object's metadata in the caches."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._waiting: dict[K, tuple[float, list[tuple[Change, str]]]] = {}

    def written(self, key: K, result: Result, seen: Iterable[tuple[Change, str]], now: float) -> None:
        """The outcome of a plan; `seen` has the changes with the version each object had for the plan."""
        done = {id(one.change) for one in result.written if one.outcome is Outcome.DONE}
        open_ = [(change, version) for change, version in seen if id(change) in done]
        if open_:
            self._waiting[key] = now + PATIENCE_SECONDS, open_

    def forget(self, key: K) -> None:
        self._waiting.pop(key, None)

    def versions(self, changes: Iterable[Change]) -> list[tuple[Change, str]]:
        """The changes that can be waited for, each with the version of its object now."""
        return [
            (change, found.resource_version if (found := self._look(target_of(change))) else "")
            for change in changes
            if isinstance(change, Apply | Create | Delete | Patch | SetStatus)
        ]

    def is_open(self, key: K, now: float) -> bool:
        """Whether something is still to be seen."""
        if key not in self._waiting:
            return False
        until, open_ = self._waiting[key]
        left = [(change, version) for change, version in open_ if not self._is_seen(change, version)]
        if not left or until <= now:
            del self._waiting[key]
            return False
        self._waiting[key] = until, left
        return True

    def _is_seen(self, change: Change, version: str) -> bool:
        found = self._look(target_of(change))
        if isinstance(change, Create) or (isinstance(change, Apply) and not version):
            return found is not None
        return found is None or found.resource_version != version
