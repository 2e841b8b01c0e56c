"""One built-in controller as data, and the loop that runs it: key, object, decision, writes, status.

`workloads.py` and its neighbours list their controllers; `start.py` runs them all.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from quorate.api.meta import Json, Kind
from quorate.embedded.builtins.workqueue import WorkQueue
from quorate.embedded.builtins.world import World
from quorate.embedded.builtins.writer import Writer
from quorate.embedded.clock import Clock
from quorate.embedded.errors import ApiError
from quorate.embedded.store import Event, Key
from quorate.plan import Change, Ref
from quorate.workloads.builtin.outcome import Outcome, ref

_MANY = 100
_SECONDS_EACH = 100e-6


class Trigger(NamedTuple):
    """Events of `kind` make the keys dirty that `keys` names."""

    kind: Kind
    keys: Callable[[World, Event], Iterable[Key]]


class Controller(NamedTuple):
    """What differs between controllers: `decide` is a pure function fed from the world's indexes."""

    kind: Kind
    component: str
    decide: Callable[[World, Json, float], Outcome]
    triggers: tuple[Trigger, ...] = ()
    # What is left to delete when the object is gone and no owner reference would do it.
    leftovers: Callable[[World, Key], Sequence[Change]] | None = None
    # The status of an object whose writes were refused, from (object, status, why, now).
    failed: Callable[[Json, Json, str, float], Json] | None = None
    delay: float = 0.0  # seconds that changes of children are gathered for before one pass
    # How many objects a pass over this one looks at; without it, as many as it has children.
    size: Callable[[World, Json], int] | None = None


class Reconciler:
    def __init__(self, controller: Controller, world: World, writer: Writer, clock: Clock) -> None:
        self._controller = controller
        self._world = world
        self._writer = writer
        self._clock = clock
        self.queue: WorkQueue[Key] = WorkQueue(controller.component, clock, self._sync)
        world.on(controller.kind, lambda event: self.queue.add(event.key))
        for trigger in controller.triggers:
            world.on(trigger.kind, lambda event, keys=trigger.keys: self._add(keys(world, event)))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        for item in world.all(controller.kind):
            meta = item["metadata"]
            self.queue.add(
                Key(controller.kind.group, controller.kind.plural, meta.get("namespace", ""), meta["name"])
            )

    def _add(self, keys: Iterable[Key]) -> None:
        for key in keys:
            delay = max(self._controller.delay, self._patience(key))
            if delay:
                self.queue.add_at(key, self._clock.now() + delay)
            else:
                self.queue.add(key)

    def _patience(self, key: Key) -> float:
        """The more objects a pass looks at, the more of their changes it takes at once."""
        item = self._world.store.get(key)
        if item is None:
            return 0.0
        size = self._controller.size
        count = size(self._world, item) if size else self._world.count_children(item["metadata"]["uid"])
        return count * _SECONDS_EACH if count > _MANY else 0.0

    async def _sync(self, key: Key) -> float | None:
        item = self._world.store.get(key)
        if item is None:
            await self._clear(key)
            return None
        result = self._controller.decide(self._world, item, self._clock.now())
        about = ref(self._controller.kind, item)
        try:
            await self._writer.carry_out(about, result.changes)
        except ApiError as error:
            if self._controller.failed is not None and result.status is not None:
                shown = self._controller.failed(item, result.status, str(error), self._clock.now())
                result = result._replace(status=shown)
            raise
        finally:
            # A status that could not be followed by its writes is still true.
            await self._write_status(key, item, result)
        return result.wake

    async def _clear(self, key: Key) -> None:
        if self._controller.leftovers is not None:
            about = Ref(kind=self._controller.kind, name=key.name, namespace=key.namespace)
            await self._writer.carry_out(about, self._controller.leftovers(self._world, key))

    async def _write_status(self, key: Key, item: Json, result: Outcome) -> None:
        if result.status is None or result.status == item.get("status"):
            return
        if self._world.store.get(key) is not None:
            await self._writer.set_status(ref(self._controller.kind, item), result.status)
