"""Evictions that happened, as events: on each pod, and on its gang, where people look when the pod is gone."""

from collections.abc import Iterator

from quorate.plan import Emit, EventType, Evict, Ref


class Evictions:
    """Noted when the API server has agreed, told with the next writes."""

    def __init__(self) -> None:
        self._done: dict[Ref | None, list[Evict]] = {}

    def __bool__(self) -> bool:
        return bool(self._done)

    def note(self, change: Evict, gang: Ref | None) -> None:
        self._done.setdefault(gang, []).append(change)

    def told(self) -> Iterator[Emit]:
        done, self._done = self._done, {}
        for gang, evicted in done.items():
            for one in evicted:
                yield Emit(one.pod, EventType.NORMAL, one.reason, one.message)
            if gang is not None:
                first = evicted[0]
                count = f"{len(evicted)} members were evicted: " if len(evicted) > 1 else ""
                yield Emit(gang, EventType.NORMAL, first.reason, count + first.message)
