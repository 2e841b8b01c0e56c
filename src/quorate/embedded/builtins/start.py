"""Starts every built-in controller and the fake kubelets of one cluster, and stops them again."""

import asyncio
from typing import Protocol

from quorate.embedded.apiserver import ApiServer
from quorate.embedded.builtins import garbage, scheduler, services, volumes, workloads
from quorate.embedded.builtins.ephemeral import COMPONENT, EphemeralVolumes
from quorate.embedded.builtins.expiry import EventExpiry
from quorate.embedded.builtins.heartbeats import Heartbeats
from quorate.embedded.builtins.namespaces import Namespaces
from quorate.embedded.builtins.nodelife import NodeLife
from quorate.embedded.builtins.reconciler import Reconciler
from quorate.embedded.builtins.recorder import Recorder
from quorate.embedded.builtins.world import World
from quorate.embedded.builtins.writer import Writer
from quorate.embedded.clock import Clock
from quorate.embedded.kubelet import START_SECONDS, Kubelets


class _Queue(Protocol):
    name: str

    @property
    def is_idle(self) -> bool: ...

    async def run(self) -> None: ...


class Builtins:
    """All controllers over one store; `run` works until cancelled."""

    def __init__(
        self, api: ApiServer, clock: Clock, *, root_ca: str = "", start_seconds: float = START_SECONDS
    ) -> None:
        self.world = World(api.store)
        recorder = Recorder(clock)

        def writer(component: str) -> Writer:
            return Writer(api, recorder, component)

        reconcilers = [
            Reconciler(controller, self.world, writer(controller.component), clock)
            for controller in (*workloads.CONTROLLERS, *services.CONTROLLERS, *volumes.CONTROLLERS)
        ]
        self.kubelets = Kubelets(self.world, writer("kubelet"), clock, start_seconds=start_seconds)
        heartbeats = Heartbeats(self.world, writer("kubelet"), clock)
        life = NodeLife(self.world, writer("node-controller"), clock)
        collector = garbage.Collector(self.world, writer("generic-garbage-collector"), api.registry, clock)
        namespaces = Namespaces(
            self.world, writer("namespace-controller"), api.registry, clock, root_ca=root_ca
        )
        default = scheduler.DefaultScheduler(self.world, writer("default-scheduler"), clock)
        expiry = EventExpiry(self.world, writer("event-expiry"), clock)
        ephemeral = EphemeralVolumes(self.world, writer(COMPONENT), clock)
        queues = (
            ephemeral.queue,
            expiry.queue,
            namespaces.queue,
            default.queue,
            self.kubelets.queue,
            heartbeats.queue,
            life.nodes,
            life.pods,
            collector.queue,
        )
        self._queues: list[_Queue] = [*(item.queue for item in reconcilers), *queues]

    @property
    def is_idle(self) -> bool:
        """Nothing is left to do before time passes or something changes."""
        return all(queue.is_idle for queue in self._queues)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for queue in self._queues:
                tasks.create_task(queue.run(), name=f"builtin {queue.name}")
