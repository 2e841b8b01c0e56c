"""Events are forgotten an hour after they were recorded, as a kube-apiserver does by default."""

from collections import deque

from quorate.embedded.builtins.workqueue import WorkQueue
from quorate.embedded.builtins.world import World
from quorate.embedded.builtins.writer import Writer
from quorate.embedded.clock import Clock
from quorate.embedded.store import Event, Key
from quorate.plan import Ref
from quorate.workloads.builtin import kinds

LIFETIME_SECONDS = 3600.0
_SWEEP_SECONDS = 60.0


class EventExpiry:
    def __init__(self, world: World, writer: Writer, clock: Clock) -> None:
        self._writer = writer
        self._clock = clock
        self._due: deque[tuple[float, Key]] = deque()
        self.queue: WorkQueue[Key] = WorkQueue("event-expiry", clock, self._sync)
        for item in world.all(kinds.EVENT):
            self._remember(
                Key("", kinds.EVENT.plural, item["metadata"]["namespace"], item["metadata"]["name"])
            )
        world.on(kinds.EVENT, self._event)

    def _event(self, event: Event) -> None:
        if event.type == "ADDED":
            self._remember(event.key)

    def _remember(self, key: Key) -> None:
        self._due.append((self._clock.now() + LIFETIME_SECONDS, key))
        if len(self._due) == 1:
            self._clock.call_later(LIFETIME_SECONDS, self._sweep)

    def _sweep(self) -> None:
        while self._due and self._due[0][0] <= self._clock.now():
            self.queue.add(self._due.popleft()[1])
        if self._due:
            self._clock.call_later(max(self._due[0][0] - self._clock.now(), _SWEEP_SECONDS), self._sweep)

    async def _sync(self, key: Key) -> None:
        await self._writer.delete(Ref(kind=kinds.EVENT, name=key.name, namespace=key.namespace))
