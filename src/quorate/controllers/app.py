"""The process: chosen controllers on one client, with health, an optional lease and an orderly end.

`run` is for the command line, which makes the `Connection`; `quorate up` runs the same beside its cluster.
"""

import asyncio
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from quorate.api.core import CONFIG_MAP, ConfigMap
from quorate.api.shipped import NAMESPACE
from quorate.controllers.admission import Judge, Serving, Trust, Webhook
from quorate.controllers.contexts import Contexts
from quorate.controllers.granted import Granted
from quorate.controllers.grouper import Grouper
from quorate.controllers.health import HealthServer
from quorate.controllers.lws import LeaderWorkerSets
from quorate.controllers.newcomers import Newcomers
from quorate.controllers.rbg import RoleBasedGroups
from quorate.controllers.runtime import Loop
from quorate.controllers.scheduler import Scheduler
from quorate.controllers.status import Status
from quorate.controllers.usage import STORE, UsageStore
from quorate.controllers.window import Window
from quorate.grouping.subject import Settings as GroupingSettings
from quorate.kube.apply import Writer
from quorate.kube.auth import Connection
from quorate.kube.caches import Caches
from quorate.kube.client import Client
from quorate.kube.leader import Election, Terms
from quorate.kube.resources import Scope
from quorate.kube.rush import Rush
from quorate.plan import Ref
from quorate.scheduling.policy import Policy

# defaults for kinds of workloads, in the form that upstream's ConfigMap has
KIND_DEFAULTS = Ref(kind=CONFIG_MAP, namespace=NAMESPACE, name="quorate-kind-defaults")
# a step that has begun may finish; what is not written by then is planned again by the next process
GRACE_SECONDS = 10.0


class SettingsError(ValueError):
    """Settings that name what there is not; the text names what there is."""


@dataclass(frozen=True)
class Settings:
    """`only` empty means all controllers; a `lease` means that one process at a time works."""

    only: tuple[str, ...] = ()
    scheduler_name: str = "quorate"
    policy: Policy = field(default_factory=Policy)
    usage_half_life: float | None = None  # seconds; None: shares do not look back
    grouping: GroupingSettings = field(default_factory=GroupingSettings)
    kind_defaults: Ref | None = KIND_DEFAULTS
    window_idle: float = 0.02
    window_cap: float = 0.25
    lease: Ref | None = None
    terms: Terms = field(default_factory=Terms)
    health_host: str = "0.0.0.0"  # noqa: S104 - the kubelet probes from outside the pod
    health_port: int | None = None
    webhook: Webhook | None = None

    def __post_init__(self) -> None:
        for name in self.only:
            if name not in CONTROLLERS:
                raise SettingsError(f"no controller {name!r}; there are {', '.join(CONTROLLERS)}")
        if "admission" in self.only and self.webhook is None:
            raise SettingsError(
                "admission needs a webhook: say where to serve and which names it is called by"
            )

    @property
    def chosen(self) -> tuple[str, ...]:
        """Admission is among all controllers only where it can be reached."""
        return self.only or tuple(name for name in CONTROLLERS if name != "admission" or self.webhook)


class Part(Protocol):
    """What runs until it is stopped: a loop, or a server."""

    async def run(self) -> None: ...

    def stop(self) -> None: ...


@dataclass(frozen=True)
class Bench:
    """What controllers are built from."""

    client: Client
    caches: Caches
    settings: Settings
    granted: Granted = field(default_factory=Granted)
    rush: Rush = field(default_factory=Rush)

    @cached_property
    def contexts(self) -> Contexts:
        """One for all, so that admission knows the owners that the grouper has read."""
        settings = self.settings
        grouping = replace(settings.grouping, scheduler_names=frozenset({settings.scheduler_name}))
        return Contexts(self.client, self.caches, grouping, settings.kind_defaults)


def grouper(bench: Bench) -> list[Part]:
    made = Grouper(bench.caches, bench.contexts)
    return [Loop(made, Writer(bench.client, "quorate-grouper"), workers=8)]


def scheduler(bench: Bench) -> list[Part]:
    settings = bench.settings
    stored = Scope(kind=STORE.kind, namespace=STORE.namespace, fields=f"metadata.name={STORE.name}")
    half_life = settings.usage_half_life
    made = Scheduler(
        bench.caches,
        scheduler_name=settings.scheduler_name,
        policy=settings.policy,
        window=Window(idle=settings.window_idle, cap=settings.window_cap),
        granted=bench.granted,
        usage=None if half_life is None else UsageStore(bench.caches.of(stored, ConfigMap), half_life),
    )
    return [Loop(made, Writer(bench.client, "quorate-scheduler", rush=bench.rush), workers=1)]


def status(bench: Bench) -> list[Part]:
    made = Status(bench.caches, bench.granted, bench.rush, scheduler_name=bench.settings.scheduler_name)
    return [Loop(made, Writer(bench.client, "quorate-status"), workers=8)]


def lws(bench: Bench) -> list[Part]:
    made = LeaderWorkerSets(bench.caches, scheduler_name=bench.settings.scheduler_name)
    return [Loop(made, Writer(bench.client, "quorate-lws"), workers=8)]


def rbg(bench: Bench) -> list[Part]:
    return [Loop(RoleBasedGroups(bench.caches), Writer(bench.client, "quorate-rbg"), workers=4)]


def admission(bench: Bench) -> list[Part]:
    webhook = bench.settings.webhook
    assert webhook is not None, "settings refuse the choice of admission without a webhook"
    trust = Trust(bench.client, bench.caches, webhook)
    serving = Serving(Judge(bench.caches), Newcomers(bench.caches, bench.contexts), webhook, trust)
    return [serving, Loop(trust, Writer(bench.client, "quorate-admission"), workers=1)]


CONTROLLERS: dict[str, Callable[[Bench], list[Part]]] = {
    "grouper": grouper,
    "scheduler": scheduler,
    "status": status,
    "lws": lws,
    "rbg": rbg,
    "admission": admission,
}


class App:
    """One life of the process: may lead, lose the lease, and lead again with fresh caches."""

    def __init__(self, client: Client, settings: Settings, stop: asyncio.Event) -> None:
        self._client = client
        self._settings = settings
        self._stop = stop
        self._caches: Caches | None = None

    def problems(self) -> list[str]:
        """What keeps the process from working; one that waits for the lease is ready to take over."""
        return self._caches.problems() if self._caches else []

    async def run(self, ready: Callable[[], None]) -> None:
        lease = self._settings.lease
        if lease is None:
            await self._work(ready)
            return
        # not the process id: in containers it is always the same
        identity = f"{socket.gethostname()}_{uuid.uuid4()}"
        while not self._stop.is_set():
            election = Election(self._client, lease, identity, self._settings.terms)
            async with background(election.lead(lambda: self._work(ready)), self._stop_waited()) as tasks:
                await first_of(*tasks)
                if self._stop.is_set():
                    await asyncio.wait(tasks[:1], timeout=GRACE_SECONDS)

    async def _work(self, ready: Callable[[], None]) -> None:
        """Fill the caches, run the loops until `stop`, and let them finish what they have begun."""
        caches = self._caches = Caches(self._client)
        bench = Bench(self._client, caches, self._settings)
        parts = [part for name in self._settings.chosen for part in CONTROLLERS[name](bench)]
        try:
            async with background(caches.run(), self._stop_waited()) as (watching, stopping):
                async with background(caches.synced()) as (synced,):
                    await first_of(watching, stopping, synced)
                if self._stop.is_set():
                    return
                async with background(*(part.run() for part in parts)) as working:
                    ready()
                    await first_of(watching, stopping, *working)
                    for part in parts:
                        part.stop()
                    await asyncio.wait(working, timeout=GRACE_SECONDS)
        finally:
            self._caches = None

    async def _stop_waited(self) -> None:
        await self._stop.wait()


async def run(
    connection: Connection,
    settings: Settings,
    stop: asyncio.Event,
    *,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Work until `stop` is set; `ready` is called each time the caches are filled and the loops run."""
    async with Client(connection) as client:
        app = App(client, settings, stop)
        async with background(app.run(ready), serve_health(settings, app.problems)) as tasks:
            await first_of(*tasks)


async def serve_health(settings: Settings, problems: Callable[[], list[str]]) -> None:
    if settings.health_port is None:
        await asyncio.Event().wait()
    else:
        await HealthServer(problems).run(settings.health_host, settings.health_port)


async def first_of(*tasks: asyncio.Task[None]) -> None:
    """Until one of them ends; its failure is raised here."""
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


@asynccontextmanager
async def background(*works: Coroutine[object, object, None]) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Tasks that are cancelled and awaited at the end, however it comes."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
