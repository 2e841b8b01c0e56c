"""Fills a cluster through its API: `python -m bench.endtoend [--servers embedded kube-apiserver] [--json FILE]`.

Gangs are there before the controllers start, which run in a process of their own, as does the server: the embedded
one, or an etcd and a kube-apiserver. A bare hammer binds as many pods to the same nodes, with 32 requests at once and
nothing else to do: half of them before, half after, because machines get slower and faster while one looks. Binds and
writes are what the server counts, asked seldom, because its answer costs as much as thirty binds; a write is any
request that changes something, but those of kubelets: of nodes, leases and the status of pods.
"""

import argparse
import asyncio
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import msgspec

from bench.machine import machine
from quorate.api import labels
from quorate.api.core import NODE, POD, Node, Pod
from quorate.api.meta import Json, Kind
from quorate.api.podgroup import POD_GROUP
from quorate.api.shipped import DEFAULT_QUEUE
from quorate.embedded.nodes import node_shapes, nodes_of
from quorate.kube.client import Client, Request
from quorate.kube.kubeconfig import discover
from quorate.kube.resources import Scope, bind_request, create_request, pages, status_request
from quorate.plan import Bind, Create, Ref, SetStatus

GPUS = 10  # of a node
AT_ONCE = 32
LOOK_SECONDS = 0.1
LONGEST_LOOK_SECONDS = 2.0
QUIET_SECONDS = 2.0
PATIENCE_SECONDS = 120.0
SERVERS = EMBEDDED, REAL = "embedded", "kube-apiserver"
NAMESPACES = BARE, GANGS = "bare", "gangs"
# No kubelet says every ten seconds that its node is still there, and a thousand new nodes are found ready at once.
MANAGER = ("--node-monitor-grace-period=1h", "--kube-api-qps=200", "--kube-api-burst=400")
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
COUNTED = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="([^"]*)"')
WRITES = frozenset({"POST", "PUT", "PATCH", "APPLY", "DELETE"})
OF_KUBELETS = frozenset({"nodes", "nodes/status", "leases", "pods/status"})
BINDS = ("POST", "pods/binding")

Counts = Counter[tuple[str, str]]


class Filled(msgspec.Struct):
    """Binds a second are counted from the last look that saw none to the first that saw all."""

    server: str
    nodes: int
    pods: int
    gang: int
    bare_binds_per_second: float
    binds_per_second: float
    share_of_bare: float
    seconds_to_first_bind: float
    controllers_cpu_ms_per_pod: float
    writes_per_pod: float
    writes: dict[str, int]
    faults: list[str]

    def __str__(self) -> str:
        wrong = f"; WRONG: {'; '.join(self.faults)}" if self.faults else ""
        return (
            f"{self.server}: {self.pods} pods in gangs of {self.gang} on {self.nodes} nodes: "
            f"{self.binds_per_second:.0f} binds/s, {100 * self.share_of_bare:.0f} % of the bare "
            f"{self.bare_binds_per_second:.0f}, first after {self.seconds_to_first_bind:.1f} s, "
            f"{self.controllers_cpu_ms_per_pod:.2f} ms of CPU and "
            f"{self.writes_per_pod:.2f} writes a pod {self.writes}{wrong}"
        )


class Bench:
    def __init__(self, client: Client, options: argparse.Namespace) -> None:
        self._client = client
        self._pods: int = options.pods
        self._size: int = options.gang
        self._nodes = list(nodes_of(node_shapes(shapes(options.nodes))))

    async def filled(self, server: str, kubeconfig: Path) -> Filled:
        await self._prepare(has_kubelets=server == EMBEDDED)
        half = self._pods // 2
        bare_seconds = await self._hammer(range(half))
        if server != EMBEDDED:
            await self._beat()
        before = await self._counts()
        began, cpu = time.perf_counter(), cpu_of_children()
        with controllers(kubeconfig):
            seen = await self._watched(before)
        cpu = cpu_of_children() - cpu
        (none_yet, _), (first, _), *_ = seen
        last, every = seen[-1]
        writes = await self._counts() - before
        mine = {
            f"{verb} {resource}": count
            for (verb, resource), count in sorted(writes.items())
            if verb in WRITES and resource not in OF_KUBELETS and count
        }
        rate = every / (last - none_yet)
        faults = [fault async for fault in self._faults()]
        bare_seconds += await self._hammer(range(half, self._pods))
        bare = self._pods / bare_seconds
        return Filled(
            server=server,
            nodes=len(self._nodes),
            pods=self._pods,
            gang=self._size,
            bare_binds_per_second=bare,
            binds_per_second=rate,
            share_of_bare=rate / bare,
            seconds_to_first_bind=first - began,
            controllers_cpu_ms_per_pod=1e3 * cpu / self._pods,
            writes_per_pod=sum(mine.values()) / self._pods,
            writes=mine,
            faults=faults,
        )

    async def _prepare(self, *, has_kubelets: bool) -> None:
        if not has_kubelets:
            await self._send(create(NODE, node["metadata"]["name"], "", node) for node in self._nodes)
            await self._beat()
            await self._until_untainted()
        await self._send(create(NAMESPACE, name, "", {}) for name in NAMESPACES)
        await self._send(create(POD, f"p{n:06}", BARE, bare_pod()) for n in range(self._pods))
        gangs = [f"g{n:05}" for n in range(self._pods // self._size)]
        spec = {"spec": {"minMember": self._size, "queue": DEFAULT_QUEUE}}
        await self._send(create(POD_GROUP, name, GANGS, spec) for name in gangs)
        pods = ((name, number) for name in gangs for number in range(self._size))
        await self._send(create(POD, f"{name}-{number}", GANGS, member(name)) for name, number in pods)

    async def _beat(self) -> None:
        """Say that the nodes are ready: none has a kubelet."""
        await self._send(
            status_request(
                SetStatus(target=Ref(kind=NODE, name=node["metadata"]["name"]), status=ready(node))
            )
            for node in self._nodes
        )

    async def _until_untainted(self) -> None:
        """Until kube-controller-manager has seen that all nodes are ready."""
        for _ in range(round(PATIENCE_SECONDS)):
            if not await self._tainted():
                return
            await asyncio.sleep(1)
        raise TimeoutError(f"nodes are tainted after {PATIENCE_SECONDS} s")

    async def _tainted(self) -> bool:
        async for page in pages(self._client, Scope(kind=NODE)):
            if any(msgspec.json.decode(item, type=Node).spec.taints for item in page.items or ()):
                return True
        return False

    async def _hammer(self, numbers: Iterable[int]) -> float:
        """Seconds to bind the bare pods of these numbers."""
        requests = [
            bind_request(
                Bind(
                    pod=Ref(kind=POD, name=f"p{n:06}", namespace=BARE),
                    node=self._nodes[n % len(self._nodes)]["metadata"]["name"],
                )
            )
            for n in numbers
        ]
        began = time.perf_counter()
        await self._send(requests)
        return time.perf_counter() - began

    async def _send(self, requests: Iterable[Request]) -> None:
        waiting = iter(requests)

        async def work() -> None:
            for request in waiting:
                await self._client.send(request)

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))

    async def _watched(self, before: Counts) -> list[tuple[float, int]]:
        """When how many pods were bound, from the last look that saw none to the end; returns once it is quiet."""
        began = time.perf_counter()
        seen, total, quiet_since = [(began, 0)], 0, began
        while (asked := time.perf_counter()) < began + PATIENCE_SECONDS:
            counts, at = await self._counts() - before, time.perf_counter()
            bound = counts[BINDS]
            if not bound:
                seen[0] = asked, 0
            elif bound > seen[-1][1]:
                seen.append((at, bound))
            written = sum(count for (verb, _), count in counts.items() if verb in WRITES)
            if written != total:
                total, quiet_since = written, at
            if bound >= self._pods and at - quiet_since > QUIET_SECONDS:
                return seen
            await asyncio.sleep(self._pause(seen))
        raise TimeoutError(f"{seen[-1][1]} of {self._pods} pods bound after {PATIENCE_SECONDS} s")

    def _pause(self, seen: Sequence[tuple[float, int]]) -> float:
        """Half of the seconds until the last bind, if it goes on as it went."""
        (began, _), (last, bound) = seen[0], seen[-1]
        pause = (last - began) * (self._pods - bound) / bound / 2 if bound else 0
        return min(max(pause, LOOK_SECONDS), LONGEST_LOOK_SECONDS)

    async def _counts(self) -> Counts:
        answer = await self._client.send(
            Request(verb="get", method="GET", path="/metrics", accept="text/plain")
        )
        found = Counts()
        for text, value in COUNTED.findall(answer.decode()):
            mark = dict(LABEL.findall(text))
            what = mark["resource"] + (f"/{mark['subresource']}" if mark.get("subresource") else "")
            found[verb_of(mark["verb"]), what] += int(float(value))
        return found

    async def _faults(self) -> AsyncIterator[str]:
        """Judged by what the server shows: nodes that hold too much, gangs of which a part runs."""
        used, members = Counter[str](), Counter[str]()
        async for pod in self._bound():
            used[pod.spec.node_name] += 1
            members[pod.metadata.annotation(labels.POD_GROUP_NAME)] += 1
        if sum(members.values()) != self._pods:
            yield f"{sum(members.values())} of {self._pods} pods are bound"
        for name, count in sorted(used.items()):
            if count > GPUS:
                yield f"{name} holds {count} pods of one GPU with {GPUS}"
        for name, count in sorted(members.items()):
            if count != self._size:
                yield f"{name} runs with {count} of {self._size}"

    async def _bound(self) -> AsyncIterator[Pod]:
        async for page in pages(self._client, Scope(kind=POD, namespace=GANGS)):
            for item in page.items or ():
                pod = msgspec.json.decode(item, type=Pod)
                if pod.spec.node_name:
                    yield pod


def cpu_of_children() -> float:
    """Seconds of processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def verb_of(verb: str) -> str:
    """Servers count by the verb of the API or by the method of HTTP."""
    return {"APPLY": "PATCH", "CREATE": "POST", "UPDATE": "PUT"}.get(verb.upper(), verb.upper())


def shapes(nodes: int) -> str:
    return f"{nodes}x{GPUS}gpu,rack=20"


def create(kind: Kind, name: str, namespace: str, body: Json) -> Request:
    return create_request(Create(target=Ref(kind=kind, name=name, namespace=namespace), body=body))


def bare_pod() -> Json:
    """As large as a member of a gang, but it takes no room."""
    return pod("bare", "nobody", "0")


def member(gang: str) -> Json:
    return pod(gang, "quorate", "1")


def pod(gang: str, scheduler: str, amount: str) -> Json:
    amounts = {labels.GPU_RESOURCE: amount, "cpu": amount}
    resources = {"requests": amounts, "limits": amounts}
    return {
        "metadata": {"annotations": {labels.POD_GROUP_NAME: gang}},
        "spec": {
            "schedulerName": scheduler,
            "containers": [{"name": "main", "image": "train", "resources": resources}],
        },
    }


def ready(node: Json) -> Json:
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "",
        "lastHeartbeatTime": moment,
    }
    return {**node["status"], "conditions": [{**condition, "lastTransitionTime": moment}]}


@contextmanager
def controllers(kubeconfig: Path) -> Iterator[None]:
    """The controllers of a real installation, in a process of their own."""
    chosen = [f"--only={name}" for name in ("grouper", "scheduler", "status")]
    command = ["run", "--kubeconfig", str(kubeconfig), "--health-port", "0", "--log-level", "error", *chosen]
    process = subprocess.Popen([sys.executable, "-m", "quorate.cli", *command])  # noqa: S603 - our own command
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def embedded(nodes: int, home: Path) -> Iterator[Path]:
    kubeconfig = home / "kubeconfig"
    options = ("--no-controllers", "--port", "0", "--nodes", shapes(nodes), "--kubeconfig", str(kubeconfig))
    command = [sys.executable, "-m", "quorate.cli", "up", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own command
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("ready in"):
                break
        try:
            yield kubeconfig
        finally:
            process.terminate()


@contextmanager
def real(home: Path) -> Iterator[Path]:
    from conformance.__main__ import install  # noqa: PLC0415 - the embedded server needs neither Go nor kubectl
    from conformance.builds import programs  # noqa: PLC0415 - likewise
    from conformance.servers import control_plane  # noqa: PLC0415 - likewise

    with control_plane(programs(), partial(install, home=home), manager=MANAGER) as kubeconfig:
        yield kubeconfig


@asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[Client]:
    async with Client(discover(str(kubeconfig))) as client:
        yield client


async def measured(kubeconfig: Path, server: str, options: argparse.Namespace) -> Filled:
    async with connected(kubeconfig) as client:
        return await Bench(client, options).filled(server, kubeconfig)


def run(options: argparse.Namespace) -> list[Filled]:
    found = []
    for server in options.servers:
        with ExitStack() as running:
            home = Path(running.enter_context(tempfile.TemporaryDirectory()))
            opened = embedded(options.nodes, home) if server == EMBEDDED else real(home)
            kubeconfig = running.enter_context(opened)
            found.append(asyncio.run(measured(kubeconfig, server, options)))
        print(found[-1], flush=True)
    return found


def written(path: Path, found: Sequence[Filled]) -> None:
    results = {"machine": machine(), "results": found}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results)) + b"\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.endtoend", description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--gang", type=int, default=8, help="members of each")
    parser.add_argument(
        "--servers",
        nargs="+",
        choices=SERVERS,
        default=[EMBEDDED],
        help="kube-apiserver needs Go and kubectl",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    found = run(options)
    if options.json:
        written(options.json, found)
    return 1 if any(one.faults for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
