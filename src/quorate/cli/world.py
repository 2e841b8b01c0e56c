"""The embedded cluster with Quorate installed and its controllers at work, in one process: `up` and `demo`.

The controllers reach the API server over TLS with the service account and the roles of a real installation.
"""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from quorate.api.crds import crds
from quorate.api.shipped import ACCOUNT, NAMESPACE, objects
from quorate.cli import hooks
from quorate.controllers import app
from quorate.embedded.cluster import Cluster, Settings, running
from quorate.embedded.nodes import NodeShape
from quorate.kube.auth import Connection
from quorate.kube.kubeconfig import discover


@dataclass(frozen=True)
class World:
    """`stop` ends it; `failed` is set if the controllers ended by themselves."""

    cluster: Cluster
    connection: Connection
    stop: asyncio.Event
    controllers: asyncio.Task[None]


@dataclass(frozen=True)
class Plan:
    nodes: tuple[NodeShape, ...]
    kubeconfig: Path
    host: str = "127.0.0.1"
    port: int = 0
    data_directory: Path | None = None
    controllers: app.Settings | None = field(default_factory=app.Settings)


@contextlib.asynccontextmanager
async def started(plan: Plan) -> AsyncIterator[World]:
    """Everything works when the block begins: caches are filled, pods are served."""
    settings = Settings(
        nodes=plan.nodes,
        manifests=(*crds(), *objects()),
        leftovers=hooks.LEFTOVERS,
        host=plan.host,
        port=plan.port,
        data_directory=plan.data_directory,
    )
    async with running(settings) as cluster:
        cluster.write_kubeconfig(plan.kubeconfig)
        account = plan.kubeconfig.with_name(f"{plan.kubeconfig.name}-controllers")
        cluster.write_account_kubeconfig(account, NAMESPACE, ACCOUNT)
        stop, ready = asyncio.Event(), asyncio.Event()
        connection = discover(str(plan.kubeconfig))
        await hooks.install(connection, plan.controllers)
        work = asyncio.create_task(_work(plan, discover(str(account)), stop, ready))
        try:
            await app.first_of(work, asyncio.create_task(_until(ready)))
            yield World(cluster, connection, stop, work)
        finally:
            stop.set()
            await asyncio.gather(work, return_exceptions=True)


async def _work(plan: Plan, connection: Connection, stop: asyncio.Event, ready: asyncio.Event) -> None:
    if plan.controllers is None:
        ready.set()
        await stop.wait()
    else:
        await app.run(connection, plan.controllers, stop, ready=ready.set)


async def _until(event: asyncio.Event) -> None:
    await event.wait()


def stop_on_signals(stop: asyncio.Event) -> None:
    """Ctrl-C and SIGTERM ask for an orderly end."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
