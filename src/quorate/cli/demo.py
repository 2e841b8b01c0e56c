"""`quorate demo`: the embedded cluster runs the example workloads, shows them live, and says what happened."""

import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quorate.cli.failures import fail, refusals
from quorate.cli.options import NODES, Level, LogLevel

if TYPE_CHECKING:
    from quorate.cli import board, world

NAMESPACE = "default"
SETTLED_SECONDS = 5.0
LONGEST_SECONDS = 80.0


def demo(
    examples: Annotated[
        Path | None, typer.Argument(help="A folder of manifests instead of the shipped examples.")
    ] = None,
    *,
    nodes: Annotated[str, typer.Option(help="Fake nodes, as for `quorate up`.")] = NODES,
    log_level: LogLevel = Level.ERROR,
) -> None:
    """Start a cluster of 32 nodes in 4 racks, run the examples on it, and print what happened."""
    from quorate.cli import world  # noqa: PLC0415 - keeps `quorate --help` fast
    from quorate.controllers import logs  # noqa: PLC0415 - likewise
    from quorate.embedded.collector import relax  # noqa: PLC0415 - likewise
    from quorate.embedded.nodes import ShapeError, node_shapes  # noqa: PLC0415 - likewise

    logs.set_up(log_level.value, as_json=False)
    folder = examples or shipped_examples()
    try:
        shapes = node_shapes(nodes)
    except ShapeError as error:
        raise fail(f"--nodes: {error}", status=2) from error
    with tempfile.TemporaryDirectory(prefix="quorate-demo-") as scratch, refusals():
        plan = world.Plan(shapes, Path(scratch) / "kubeconfig")
        relax()
        asyncio.run(_run(plan, folder))


def shipped_examples() -> Path:
    """Beside the package in a wheel, in `examples/` of a source tree."""
    here = Path(__file__).resolve()
    candidates = (here.parents[1] / "examples" / "demo", here.parents[3] / "examples" / "demo")
    found = next((path for path in candidates if path.is_dir()), None)
    if found is None:
        raise fail("the examples are not installed", remedy="give a folder of manifests")
    return found


async def _run(plan: "world.Plan", folder: Path) -> None:
    from rich.live import Live  # noqa: PLC0415 - keeps `quorate --help` fast

    from quorate.cli import board, documents, world  # noqa: PLC0415 - likewise
    from quorate.kube.apply import Writer  # noqa: PLC0415 - likewise
    from quorate.kube.client import Client  # noqa: PLC0415 - likewise
    from quorate.plan import Plan  # noqa: PLC0415 - likewise

    began = time.monotonic()
    changes = documents.as_changes(folder, NAMESPACE)
    async with world.started(plan) as running, Client(running.connection) as client:
        world.stop_on_signals(running.stop)
        count = sum(shape.count for shape in plan.nodes)
        typer.echo(f"{count} nodes ready after {time.monotonic() - began:.1f} s; applying {folder.name}")
        async with board.following(client) as seen:
            result = await Writer(client, "quorate-demo").write(Plan(changes=tuple(changes)))
            if result.unmet:
                worst = result.unmet[0]
                raise fail(f"cannot {worst.change}: {worst.message}", status=1)
            applied = time.monotonic()
            with Live(board.table(seen), refresh_per_second=4, vertical_overflow="visible") as live:
                settled = await _until_settled(seen, running.stop, lambda: live.update(board.table(seen)))
            if not live.console.is_terminal:
                typer.echo()
            live.console.print(board.summary(seen, running.cluster.api.counts), markup=False, highlight=False)
            if settled is None:
                raise fail(f"the examples did not settle within {LONGEST_SECONDS:.0f} s", status=1)
            whole = time.monotonic() - began
            typer.echo(
                f"settled {settled - applied:.1f} s after the examples were applied; {whole:.0f} s in all"
            )
            if board.started_in_part(seen):
                raise fail("a gang below its minimums holds nodes", remedy="please report this", status=1)


async def _until_settled(seen: "board.Seen", stop: asyncio.Event, show: Callable[[], None]) -> float | None:
    """When the last gang or pod got further, once that is a while ago; None if it never was."""
    began = changed = time.monotonic()
    last = seen.fingerprint()
    while time.monotonic() - began < LONGEST_SECONDS:
        await asyncio.sleep(0.2)
        show()
        now = seen.fingerprint()
        if now != last:
            last, changed = now, time.monotonic()
        elif stop.is_set() or time.monotonic() - changed > SETTLED_SECONDS:
            return changed
    return None
