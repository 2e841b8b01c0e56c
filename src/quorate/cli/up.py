"""`quorate up`: the embedded cluster with all controllers on it, until Ctrl-C."""

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quorate.api.labels import GPU_RESOURCE
from quorate.api.quantity import milli
from quorate.cli.failures import fail, refusals
from quorate.cli.options import (
    NODES,
    SCHEDULER_NAME,
    Level,
    LogLevel,
    Mapping,
    Only,
    PolicyFile,
    SchedulerName,
)

if TYPE_CHECKING:
    from quorate.cli import world
    from quorate.embedded.cluster import Cluster

DEFAULT_KUBECONFIG = Path("quorate-data/kubeconfig")


def up(  # noqa: PLR0913 - each is an option of the command
    *,
    nodes: Annotated[
        str, typer.Option(help='Fake nodes, as in "32x8gpu,rack=8" or "4x8gpu 2x0gpu,name=cpu".')
    ] = NODES,
    host: Annotated[str, typer.Option(help="Where the API server listens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes a free one.", min=0, max=65535)] = 6443,
    data_dir: Annotated[
        Path | None, typer.Option(help="Keep everything here; without it nothing outlives the process.")
    ] = None,
    kubeconfig: Annotated[Path, typer.Option(help="Where to write it.")] = DEFAULT_KUBECONFIG,
    controllers: Annotated[bool, typer.Option(help="Run Quorate's controllers too.")] = True,
    only: Only = None,
    scheduler_name: SchedulerName = SCHEDULER_NAME,
    grouping_file: Mapping = None,
    policy_file: PolicyFile = None,
    log_level: LogLevel = Level.WARNING,
) -> None:
    """Start a Kubernetes in this process, with fake GPU nodes and Quorate's controllers on it."""
    from quorate.cli import hooks, world  # noqa: PLC0415 - keeps `quorate --help` fast
    from quorate.cli.groupers import extensions  # noqa: PLC0415 - likewise
    from quorate.cli.policies import scheduling  # noqa: PLC0415 - likewise
    from quorate.controllers import app, logs  # noqa: PLC0415 - likewise
    from quorate.embedded.collector import relax  # noqa: PLC0415 - likewise
    from quorate.embedded.nodes import ShapeError, node_shapes  # noqa: PLC0415 - likewise
    from quorate.grouping.subject import Settings  # noqa: PLC0415 - likewise

    logs.set_up(log_level.value, as_json=False)
    try:
        shapes = node_shapes(nodes)
    except ShapeError as error:
        raise fail(f"--nodes: {error}", status=2) from error
    decides = scheduling(policy_file)
    with refusals():
        settings = app.Settings(
            only=tuple(only or ()),
            scheduler_name=scheduler_name,
            policy=decides.policy,
            usage_half_life=decides.usage_half_life,
            grouping=Settings(extensions=extensions(grouping_file)),
            webhook=hooks.webhook(kubeconfig),
        )
        chosen = settings if controllers else None
        relax()
        asyncio.run(_up(world.Plan(shapes, kubeconfig, host, port, data_dir, chosen)))


def _offer(cluster: "Cluster") -> str:
    """What its nodes have, those of an earlier process in the same data directory included."""
    nodes = cluster.nodes()
    gpus = sum(milli(node.get("status", {}).get("allocatable", {}).get(GPU_RESOURCE, "0")) for node in nodes)
    return f"{len(nodes)} nodes, {gpus // 1000} GPUs"


async def _up(plan: "world.Plan") -> None:
    from quorate.cli import world  # noqa: PLC0415 - keeps `quorate --help` fast

    began = time.monotonic()
    async with world.started(plan) as running:
        world.stop_on_signals(running.stop)
        typer.echo(f"cluster     {running.cluster.url}  {_offer(running.cluster)}")
        typer.echo(f"kubeconfig  export KUBECONFIG={plan.kubeconfig.absolute()}")
        typer.echo(f"ready in {time.monotonic() - began:.1f} s; Ctrl-C ends")
        await running.controllers
