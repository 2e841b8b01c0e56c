"""`quorate rollout`: what `kubectl rollout` does for Deployments, for the kinds of this product."""

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quorate.cli.failures import fail

if TYPE_CHECKING:
    from quorate.cli.rollouts import Target

app = typer.Typer(help="Watch, look back on, undo, pause and resume rollouts.")

What = Annotated[str, typer.Argument(metavar="KIND/NAME", help="As in lws/web.")]
Namespace = Annotated[str, typer.Option("--namespace", "-n", help="Else that of the kubeconfig.")]
Kubeconfig = Annotated[str, typer.Option(help="Else $KUBECONFIG, ~/.kube/config, or the pod's own account.")]
Context = Annotated[str, typer.Option(help="A context of the kubeconfig.")]


@app.command()
def status(
    what: What,
    *,
    watch: Annotated[bool, typer.Option(help="Wait until the rollout ends.")] = True,
    timeout: Annotated[float, typer.Option(help="Seconds to wait; 0 is for ever.")] = 0.0,
    namespace: Namespace = "",
    kubeconfig: Kubeconfig = "",
    context: Context = "",
) -> None:
    """Say how far a rollout is; the exit status is 1 if it does not end in time or is paused."""
    from quorate.cli import rollouts  # noqa: PLC0415 - keeps `quorate --help` fast

    target = _target(what, namespace, kubeconfig, context)
    if not _run(rollouts.status(target, watch=watch, within=timeout)):
        raise typer.Exit(1)


@app.command()
def history(
    what: What,
    *,
    revision: Annotated[int, typer.Option(help="Print what the pods of this revision are made from.")] = 0,
    namespace: Namespace = "",
    kubeconfig: Kubeconfig = "",
    context: Context = "",
) -> None:
    """List the revisions on record and what each changed."""
    from quorate.cli import rollouts  # noqa: PLC0415 - keeps `quorate --help` fast

    _run(rollouts.history(_target(what, namespace, kubeconfig, context), revision))


@app.command()
def undo(
    what: What,
    *,
    to_revision: Annotated[int, typer.Option(help="0 is the one before.")] = 0,
    namespace: Namespace = "",
    kubeconfig: Kubeconfig = "",
    context: Context = "",
) -> None:
    """Go back to an earlier revision, by a rollout like any other."""
    from quorate.cli import rollouts  # noqa: PLC0415 - keeps `quorate --help` fast

    _run(rollouts.undo(_target(what, namespace, kubeconfig, context), to_revision))


@app.command()
def pause(
    what: What, *, namespace: Namespace = "", kubeconfig: Kubeconfig = "", context: Context = ""
) -> None:
    """Stop a rollout where it is; scaling and repairs go on."""
    from quorate.cli import rollouts  # noqa: PLC0415 - keeps `quorate --help` fast

    _run(rollouts.pause(_target(what, namespace, kubeconfig, context), paused=True))


@app.command()
def resume(
    what: What, *, namespace: Namespace = "", kubeconfig: Kubeconfig = "", context: Context = ""
) -> None:
    """Let a paused rollout go on."""
    from quorate.cli import rollouts  # noqa: PLC0415 - keeps `quorate --help` fast

    _run(rollouts.pause(_target(what, namespace, kubeconfig, context), paused=False))


def _target(what: str, namespace: str, kubeconfig: str, context: str) -> "Target":
    from quorate.cli.rollouts import Target  # noqa: PLC0415 - keeps `quorate --help` fast
    from quorate.kube.errors import KubeError  # noqa: PLC0415 - likewise
    from quorate.kube.kubeconfig import discover  # noqa: PLC0415 - likewise
    from quorate.workloads.rollable import ROLLABLE, rollable  # noqa: PLC0415 - likewise

    kind, _, name = what.partition("/")
    row = rollable(kind)
    if row is None or not name:
        known = ", ".join(f"{one.names[0]}/NAME" for one in ROLLABLE)
        raise fail(f'"{what}" names nothing that rolls out', remedy=f"write {known}", status=2)
    try:
        connection = discover(kubeconfig, context)
    except KubeError as error:
        raise fail(str(error)) from error
    return Target(connection, row, name, namespace or connection.namespace)


def _run(work: Coroutine[Any, Any, bool]) -> bool:
    from quorate.kube.errors import ApiError, KubeError  # noqa: PLC0415 - keeps `quorate --help` fast

    try:
        return asyncio.run(work)
    except ApiError as error:
        raise fail(str(error), status=1) from error
    except KubeError as error:
        raise fail(str(error)) from error
