"""What the subcommands of `quorate rollout` do with the cluster; the meaning stands in `workloads.rollable`."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import typer
import yaml

from quorate.api import labels
from quorate.api.apps import CONTROLLER_REVISION, ControllerRevision
from quorate.cli.failures import fail
from quorate.kube.apply import Writer
from quorate.kube.auth import Connection
from quorate.kube.client import Client
from quorate.kube.resources import Reader, Scope, get, pages
from quorate.plan import Patch, Plan, Ref
from quorate.workloads.rollable import Rollable, changes

LOOK_SECONDS = 0.3
READ_REVISION = Reader(ControllerRevision)


@dataclass(frozen=True)
class Target:
    """One object that rolls out, and where."""

    connection: Connection
    row: Rollable
    name: str
    namespace: str

    @property
    def ref(self) -> Ref:
        return Ref(kind=self.row.kind, name=self.name, namespace=self.namespace)

    def __str__(self) -> str:
        return f"{self.row.kind.kind} {self.name}"

    async def read(self, client: Client) -> Any:
        return await get(client, self.ref, Reader(self.row.shape))


async def status(target: Target, *, watch: bool, within: float) -> bool:
    """Whether the rollout is over; each state is told once."""
    until = time.monotonic() + within if within else float("inf")
    told = ""
    async with Client(target.connection) as client:
        while True:
            found = target.row.progress(await target.read(client))
            if found.text != told:
                told = found.text
                typer.echo(f"{target}: {told}")
            if found.is_done or found.is_stuck or not watch:
                return not found.is_stuck
            if time.monotonic() >= until:
                raise fail(f"{target} did not roll out within {within:g} s", status=1)
            await asyncio.sleep(LOOK_SECONDS)


async def history(target: Target, number: int) -> bool:
    async with Client(target.connection) as client:
        known = await _revisions(target, await target.read(client), client)
    if number:
        typer.echo(yaml.safe_dump(_chosen(target, known, number).data, sort_keys=False).rstrip())
        return True
    typer.echo(f"{target}")
    typer.echo(f"{'REVISION':<10}CHANGES")
    for before, after in zip([None, *known], known, strict=False):
        lines = changes(before, after) or ["first on record"]
        typer.echo(f"{after.revision:<10}{lines[0]}")
        for line in lines[1:]:
            typer.echo(f"{'':<10}{line}")
    return True


async def undo(target: Target, number: int) -> bool:
    async with Client(target.connection) as client:
        item = await target.read(client)
        if _is_paused(item):
            raise fail(f"{target} is paused", remedy="resume it first", status=1)
        known = await _revisions(target, item, client)
        if not number and len(known) < 2:
            raise fail(f"{target} has no earlier revision on record", status=1)
        wanted = _chosen(target, known, number) if number else known[-2]
        patch = target.row.restored(item, wanted.data or {})
        if not patch:
            typer.echo(f"{target} is at revision {wanted.revision} already")
            return True
        await _write(client, Patch(target.ref, patch))
        typer.echo(f"{target} rolls back to revision {wanted.revision}")
    return True


async def pause(target: Target, *, paused: bool) -> bool:
    async with Client(target.connection) as client:
        if _is_paused(await target.read(client)) is paused:
            raise fail(f"{target} is {'paused already' if paused else 'not paused'}", status=1)
        note = {labels.PAUSED: "true" if paused else None}
        await _write(client, Patch(target.ref, {"metadata": {"annotations": note}}))
    typer.echo(f"{target} {'paused' if paused else 'resumed'}")
    return True


def _is_paused(item: Any) -> bool:
    return bool(item.metadata.annotation(labels.PAUSED) == "true")


async def _revisions(target: Target, item: Any, client: Client) -> list[ControllerRevision]:
    """Those of this very object, oldest first."""
    selector = f"{target.row.label}={target.name}"
    scope = Scope(kind=CONTROLLER_REVISION, namespace=target.namespace, labels=selector)
    found = [READ_REVISION(raw) async for page in pages(client, scope) for raw in page.items or ()]
    own = [
        one for one in found if one.metadata.controller and one.metadata.controller.uid == item.metadata.uid
    ]
    return sorted(own, key=lambda one: one.revision)


def _chosen(target: Target, known: list[ControllerRevision], number: int) -> ControllerRevision:
    for one in known:
        if one.revision == number:
            return one
    there = ", ".join(str(one.revision) for one in known)
    raise fail(f"{target} has no revision {number}", remedy=f"there are {there or 'none'}", status=1)


async def _write(client: Client, change: Patch) -> None:
    result = await Writer(client, "quorate-cli").write(Plan(changes=(change,)))
    for one in result.unmet:
        raise fail(one.message, status=1)
