"""How LeaderWorkerSets scale: `python -m bench.lws [--sets 1] [--groups 125 250 1000] [--size 8] [--json FILE]`.

The groups are created, rolled and deleted on an embedded cluster in a process of its own; the controllers run in
this one. A pass is one reconcile without its writes, in CPU time; writes are those that passes of this controller
plan. "seconds" is the wall clock of the whole cluster: scheduler, kubelets and API server included; "cpu s" are all
passes of the phase together, which grow with the pods and not faster.
"""

import argparse
import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from bench.machine import machine
from quorate.api.core import POD, Pod
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Json
from quorate.controllers import app
from quorate.controllers.lws import LeaderWorkerSets, Name
from quorate.controllers.runtime import Loop, Step
from quorate.kube.apply import Writer
from quorate.kube.auth import Connection
from quorate.kube.caches import Caches
from quorate.kube.client import Client
from quorate.kube.kubeconfig import discover
from quorate.kube.resources import Scope
from quorate.plan import Create, Delete, Patch, Plan, Ref

if TYPE_CHECKING:
    from quorate.kube.cache import Cache

GPUS = 80  # of a node: heartbeats of few nodes leave the machine to what is measured
COLUMNS = ("seconds", "passes", "median ms", "p99 ms", "worst ms", "cpu s")
ROLLING = {"maxUnavailable": "10%", "maxSurge": 0}


class Timed(LeaderWorkerSets):
    """The controller, with the seconds of its passes and the writes that they ask for."""

    passes: list[float]
    writes: Counter[str]

    async def reconcile(self, key: Name) -> Step:
        began = time.thread_time()
        step = await super().reconcile(key)
        if not step.only_waits:
            self.passes.append(time.thread_time() - began)
            self.writes.update(type(change).__name__ for change in step.plan.changes)
        return step


class Phase(msgspec.Struct):
    name: str
    seconds: float
    passes: int
    median: float
    p99: float
    worst: float
    cpu: float
    writes: dict[str, int]
    creates_per_pod: float
    writes_per_pod: float

    def __str__(self) -> str:
        times = "".join(f"{1e3 * value:>10.1f}" for value in (self.median, self.p99, self.worst))
        return (
            f"{self.name:<10}{self.seconds:>10.1f}{self.passes:>10}{times}{self.cpu:>10.1f}   {self.writes}"
        )


class Bench:
    def __init__(self, caches: Caches, writer: Writer, options: argparse.Namespace) -> None:
        self.sets: Cache[LeaderWorkerSet] = caches.of(Scope(kind=LEADER_WORKER_SET), LeaderWorkerSet)
        self.pods: Cache[Pod] = caches.of(Scope(kind=POD), Pod)
        self._writer = writer
        self._options = options
        self.timed: Timed | None = None

    async def phases(self) -> list[Phase]:
        found = []
        for name, ask in (("create", self.create), ("roll", self.roll), ("delete", self.delete)):
            assert self.timed is not None
            self.timed.passes, self.timed.writes = [], Counter()
            began = time.perf_counter()
            await ask()
            passes = self.timed.passes or [0.0]
            median, p99 = (float(np.percentile(passes, at)) for at in (50, 99))
            writes = dict(sorted(self.timed.writes.items()))
            took = time.perf_counter() - began
            pods = self._options.groups * self._options.size
            each = writes.get("Create", 0) / pods, sum(writes.values()) / pods
            found.append(Phase(name, took, len(passes), median, p99, max(passes), sum(passes), writes, *each))
            print(found[-1], flush=True)
        return found

    async def create(self) -> None:
        each = self._options.groups // self._options.sets
        await self._write(
            *(Create(ref(at), body(each, self._options.size)) for at in range(self._options.sets))
        )
        await self._until(lambda: self._available(1))

    async def roll(self) -> None:
        patch = {"spec": {"leaderWorkerTemplate": {"workerTemplate": template(2)}}}
        await self._write(*(Patch(ref(at), patch) for at in range(self._options.sets)))
        await self._until(lambda: self._available(2))

    async def delete(self) -> None:
        await self._write(*(Delete(ref(at)) for at in range(self._options.sets)))
        await self._until(lambda: len(self.pods) == 0)

    def _available(self, generation: int) -> bool:
        done = [
            one.status.observed_generation == generation
            and any(
                found.type == "Available" and found.status == "True" for found in one.status.conditions or ()
            )
            for one in self.sets
        ]
        return len(done) == self._options.sets and all(done)

    async def _write(self, *changes: Create | Patch | Delete) -> None:
        result = await self._writer.write(Plan(changes=changes))
        assert result.is_done, result.unmet

    async def _until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + self._options.timeout
        while not holds():
            assert time.monotonic() < deadline, f"not so within {self._options.timeout} s"
            await asyncio.sleep(0.05)


def ref(number: int) -> Ref:
    return Ref(kind=LEADER_WORKER_SET, name=f"set-{number}", namespace="default")


def template(version: int) -> Json:
    container = {
        "name": "app",
        "image": f"example/app:{version}",
        "resources": {"limits": {"nvidia.com/gpu": 1}},
    }
    notes = {"quorate.dev/fake-start-seconds": "0.05", "quorate.dev/fake-stop-seconds": "0.05"}
    return {
        "metadata": {"annotations": notes},
        "spec": {"schedulerName": "quorate", "containers": [container]},
    }


def body(groups: int, size: int) -> Json:
    strategy = {"type": "RollingUpdate", "rollingUpdateConfiguration": ROLLING}
    group = {"size": size, "workerTemplate": template(1)}
    return {"spec": {"replicas": groups, "leaderWorkerTemplate": group, "rolloutStrategy": strategy}}


async def measured(connection: Connection, options: argparse.Namespace) -> list[Phase]:
    """Phases while the caches and the controllers run; what ends one of these early ends the measurement."""
    ready = asyncio.Event()
    made: list[Timed] = []
    found: list[Phase] = []

    def timed(bench: app.Bench) -> list[app.Part]:
        made.append(Timed(bench.caches, scheduler_name=bench.settings.scheduler_name))
        made[0].passes, made[0].writes = [], Counter()
        return [Loop(made[0], Writer(bench.client, "quorate-lws"), workers=8)]

    async def measure(caches: Caches, bench: Bench) -> None:
        await asyncio.gather(caches.synced(), ready.wait())
        bench.timed = made[0]
        found.extend(await bench.phases())

    app.CONTROLLERS["lws"] = timed
    async with Client(connection) as client:
        caches = Caches(client)
        bench = Bench(caches, Writer(client, "bench"), options)
        working = app.run(connection, app.Settings(), asyncio.Event(), ready=ready.set)
        async with app.background(caches.run(), working, measure(caches, bench)) as tasks:
            await app.first_of(*tasks)
    assert found, "the controllers ended early"
    return found


def main() -> None:
    options = asked()
    runs = []
    for groups in options.groups:
        gc.collect()
        one = argparse.Namespace(**{**vars(options), "groups": groups})
        began, phases = os.getloadavg()[0], run(one)
        runs.append({"sets": one.sets, "groups": groups, "size": one.size, "load": began, "phases": phases})
    if options.json:
        found = {"machine": machine(), "runs": runs}
        Path(options.json).write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1)
    parser.add_argument(
        "--groups",
        type=int,
        nargs="+",
        default=[125, 250, 1000],
        help="of all sets together, at least 10 a set",
    )
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--timeout", type=float, default=600, help="seconds a phase may take")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def run(options: argparse.Namespace) -> list[Phase]:
    pods = options.groups * options.size
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        nodes = f"{-(-pods // GPUS)}x{GPUS}gpu,rack=16"
        command = [
            sys.executable,
            "-m",
            "quorate.cli",
            "up",
            "--no-controllers",
            "--port",
            "0",
            "--nodes",
            nodes,
        ]
        with subprocess.Popen(  # noqa: S603 - our own command
            [*command, "--kubeconfig", str(kubeconfig)], stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            for line in server.stdout:
                if line.startswith("ready in"):
                    break
            print(f"{options.sets} sets, {options.groups} groups, {pods} pods; load {os.getloadavg()[0]:.1f}")
            print(f"{'':<10}" + "".join(f"{column:>10}" for column in COLUMNS) + "   writes planned")
            try:
                phases = asyncio.run(measured(discover(str(kubeconfig)), options))
            finally:
                server.terminate()
    return phases


if __name__ == "__main__":
    main()
