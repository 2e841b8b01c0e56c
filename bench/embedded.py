"""How fast the embedded API server is: `python -m bench.embedded [--pods 5000] [--data-dir DIR] [--json FILE]`.

The server runs in a process of its own, the client in this one, on loopback with 16 connections. "server µs" is
the server's CPU time per request, and "a core" how many of these one core does in a second, whatever else the
machine is busy with. The ceiling is the same client against an aiohttp handler that does nothing, in the same run:
what is left of its time is what the server itself may be charged with.
"""

import argparse
import asyncio
import io
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import msgspec
from aiohttp import web

from bench.machine import machine
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.collector import relax
from quorate.embedded.discovery import builtin_resources
from quorate.embedded.persistence import Journal
from quorate.embedded.registry import Registry
from quorate.embedded.server import HttpServer
from quorate.embedded.store import Store

CONNECTIONS = 16
WATCHERS = 8
PODS = "/api/v1/namespaces/default/pods"
_encode = msgspec.json.Encoder().encode


class Request(NamedTuple):
    method: str
    path: str
    body: bytes | None = None


class Measured(NamedTuple):
    name: str
    requests: int
    seconds: float
    client: float
    server: float

    def described(self) -> dict[str, Any]:
        """With both processes on the machine, `per_second`; `per_server_core` is what one core could serve."""
        return {
            **self._asdict(),
            "per_second": round(self.requests / self.seconds),
            "client_us": round(self.client / self.requests * 1e6, 1),
            "server_us": round(self.server / self.requests * 1e6, 1),
            "per_server_core": round(self.requests / self.server),
        }

    def __str__(self) -> str:
        shown = self.described()
        costs = f"{shown['client_us']:>12.0f}{shown['server_us']:>12.0f}{shown['per_server_core']:>12}"
        return f"{self.name:<22}{shown['per_second']:>10}/s{costs}"


def pod(number: int) -> bytes:
    resources = {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"}
    container = {"name": "main", "image": "train", "resources": {"requests": resources, "limits": resources}}
    metadata = {"name": f"pod-{number:06}", "labels": {"app": f"gang-{number // 8}"}}
    return _encode(
        {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"containers": [container]}}
    )


def binding(number: int) -> bytes:
    name = f"pod-{number:06}"
    target = {"kind": "Node", "name": f"node-{number % 1000}"}
    return _encode({"kind": "Binding", "apiVersion": "v1", "metadata": {"name": name}, "target": target})


def server_process(pipe: Connection, directory: str, *, trivial: bool) -> None:
    """Send the port, then the CPU time used so far whenever something is received."""
    asyncio.run(_serve(pipe, directory, trivial=trivial))


async def _serve(pipe: Connection, directory: str, *, trivial: bool) -> None:
    port = await (_start_trivial() if trivial else _start(directory))
    pipe.send(port)
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()

    def answer() -> None:
        if pipe.recv() == "stop":
            stopped.set()
        pipe.send(time.process_time())

    loop.add_reader(pipe.fileno(), answer)
    await stopped.wait()


async def _start(directory: str) -> int:
    relax()
    store = Store()
    api = ApiServer(Registry(builtin_resources()), store)
    if directory:
        api.journal = Journal(Path(directory), store)
    namespace = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "default"}}
    if not store.count("", "namespaces"):
        await api.create(api.resource("", "v1", "namespaces"), "", namespace)
    server = HttpServer(api)
    await server.start("127.0.0.1", 0)
    return server.port


async def _start_trivial() -> int:
    body = b"{}"

    async def handle(request: web.BaseRequest) -> web.Response:
        await request.read()
        return web.Response(body=body, status=201)

    runner = web.ServerRunner(web.Server(handle), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port: int = runner.addresses[0][1]
    return port


class Bench:
    def __init__(self, port: int, pipe: Connection) -> None:
        self._url = f"http://127.0.0.1:{port}"
        self._pipe = pipe

    def server_seconds(self) -> float:
        self._pipe.send("time")
        seconds: float = self._pipe.recv()
        return seconds

    async def hammer(self, name: str, requests: Sequence[Request]) -> Measured:
        connector = aiohttp.TCPConnector(limit=CONNECTIONS)
        async with aiohttp.ClientSession(self._url, connector=connector) as session:
            pending = iter(requests)
            server, client, start = self.server_seconds(), time.process_time(), time.perf_counter()
            await asyncio.gather(*(self._send(session, pending) for _ in range(CONNECTIONS)))
            seconds, used = time.perf_counter() - start, time.process_time() - client
        return Measured(name, len(requests), seconds, used, self.server_seconds() - server)

    async def _send(self, session: aiohttp.ClientSession, pending: Any) -> None:
        headers = {"Content-Type": "application/json", "User-Agent": "bench/1"}
        for request in pending:
            data = io.BytesIO(request.body) if request.body is not None else None
            async with session.request(request.method, request.path, data=data, headers=headers) as response:
                answer = await response.read()
                assert response.status < 300, answer

    async def list_once(self, count: int) -> Measured:
        async with aiohttp.ClientSession(self._url) as session:
            server, client, start = self.server_seconds(), time.process_time(), time.perf_counter()
            async with session.get("/api/v1/pods") as response:
                size = len(await response.read())
            seconds, used = time.perf_counter() - start, time.process_time() - client
        name = f"list, {size / 1e6:.0f} MB"
        return Measured(name, count, seconds, used, self.server_seconds() - server)

    async def watch(self, count: int) -> tuple[Measured, list[int]]:
        """Pods are deleted; the events that each watcher receives meanwhile."""
        async with aiohttp.ClientSession(self._url, connector=aiohttp.TCPConnector(limit=0)) as session:
            ready = asyncio.Barrier(WATCHERS + 1)
            watchers = [asyncio.create_task(self._count(session, ready, count)) for _ in range(WATCHERS)]
            await ready.wait()
            deletions = [Request("DELETE", f"{PODS}/pod-{n:06}?gracePeriodSeconds=0") for n in range(count)]
            measured = await self.hammer(f"delete, {WATCHERS} watchers", deletions)
            return measured, await asyncio.gather(*watchers)

    async def _count(self, session: aiohttp.ClientSession, ready: asyncio.Barrier, count: int) -> int:
        async with session.get("/api/v1/pods") as response:
            revision = msgspec.json.decode(await response.read())["metadata"]["resourceVersion"]
        seen = 0
        async with session.get(f"/api/v1/pods?watch=1&resourceVersion={revision}") as response:
            await ready.wait()
            async for line in response.content:
                seen += b'"type":"DELETED"' in line
                if seen == count:
                    break
        return seen


def spawn(directory: str, *, trivial: bool) -> tuple[Bench, Callable[[], None]]:
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=server_process, args=(theirs, directory), kwargs={"trivial": trivial})
    process.start()

    def stop() -> None:
        ours.send("stop")
        ours.recv()
        process.join()

    return Bench(ours.recv(), ours), stop


async def run(count: int, directory: str) -> list[Measured]:
    print(f"{count} pods, {CONNECTIONS} connections, {os.cpu_count()} cores, disk: {directory or 'none'}")
    print(f"{'':<22}{'':>12}{'client µs':>12}{'server µs':>12}{'a core':>12}")
    creates = [Request("POST", PODS, pod(number)) for number in range(count)]
    trivial, stop = spawn("", trivial=True)
    found = [await trivial.hammer("ceiling", creates)]
    stop()
    bench, stop = spawn(directory, trivial=False)
    found.append(await bench.hammer("create", creates))
    binds = [Request("POST", f"{PODS}/pod-{n:06}/binding", binding(n)) for n in range(count)]
    found.append(await bench.hammer("bind", binds))
    found.append(await bench.hammer("get", [Request("GET", f"{PODS}/pod-{n:06}") for n in range(count)]))
    found.append(await bench.list_once(count))
    deleted, seen = await bench.watch(count)
    stop()
    assert seen == [count] * WATCHERS, seen
    print(*found, deleted, sep="\n")
    print(f"{WATCHERS} watchers saw all {count} deletions")
    return [*found, deleted]


def written(path: Path, pods: int, found: Sequence[Measured], *, on_disk: bool) -> None:
    results = {
        "machine": machine(),
        "pods": pods,
        "connections": CONNECTIONS,
        "watchers": WATCHERS,
        "on_disk": on_disk,
        "results": [one.described() for one in found],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results)) + b"\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--data-dir", default="")
    parser.add_argument("--json", type=Path, help="write the results there, in seconds of CPU time")
    given = parser.parse_args()
    found = asyncio.run(run(given.pods, given.data_dir))
    if given.json:
        written(given.json, given.pods, found, on_disk=bool(given.data_dir))


if __name__ == "__main__":
    main()
