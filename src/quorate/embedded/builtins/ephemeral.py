"""The claims of ephemeral volumes: made with the pod that mounts them, owned by it, and so gone with it."""

from quorate.api.meta import Json
from quorate.embedded.builtins.workqueue import WorkQueue
from quorate.embedded.builtins.world import World
from quorate.embedded.builtins.writer import Writer
from quorate.embedded.clock import Clock
from quorate.embedded.store import Event, Key
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.binding import own_claims
from quorate.workloads.builtin.outcome import create, is_deleting, ref

COMPONENT = "ephemeral-volume-controller"


class EphemeralVolumes:
    def __init__(self, world: World, writer: Writer, clock: Clock) -> None:
        self._world = world
        self._writer = writer
        self.queue: WorkQueue[Key] = WorkQueue(COMPONENT, clock, self._sync)
        world.on(kinds.POD, self._pod_event)
        for pod in world.all(kinds.POD):
            self._look_at(pod)

    def _pod_event(self, event: Event) -> None:
        if event.previous is None:
            self._look_at(event.object)

    def _look_at(self, pod: Json) -> None:
        if any("ephemeral" in volume for volume in pod["spec"].get("volumes") or ()):
            meta = pod["metadata"]
            self.queue.add(Key("", "pods", meta["namespace"], meta["name"]))

    async def _sync(self, key: Key) -> float | None:
        pod = self._world.store.get(key)
        if pod is None or is_deleting(pod):
            return None
        missing = [
            create(kinds.CLAIM, one)
            for one in own_claims(pod)
            if self._world.get(kinds.CLAIM, key.namespace, one["metadata"]["name"]) is None
        ]
        await self._writer.carry_out(ref(kinds.POD, pod), missing)
        return None
