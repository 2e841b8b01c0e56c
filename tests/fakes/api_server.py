"""A scripted API server for what a real one does not do on command: break, stall, overload, forget.

Requests are answered from a list of replies per method and path, in order; the last reply repeats.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from quorate.kube.auth import Connection, FixedCredentials
from quorate.kube.client import Client


@dataclass(frozen=True)
class Reply:
    """`chunks` make a stream; `cut` resets the connection after the body, `hold` keeps a stream open."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    chunks: Sequence[bytes] = ()
    cut: bool = False
    hold: bool = False


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class ScriptedServer:
    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    script: dict[tuple[str, str], list[Reply]] = field(default_factory=dict)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def on(self, method: str, path: str, *replies: Reply) -> None:
        self.script.setdefault((method, path), []).extend(replies)

    def connection(self, token: str = "") -> Connection:
        return Connection(self.url, FixedCredentials(f"Bearer {token}" if token else ""))

    async def answer(self, request: web.Request) -> web.StreamResponse:
        text = await request.text()
        body = json.loads(text) if text else None
        self.seen.append(Seen(request.method, request.path, dict(request.query), dict(request.headers), body))
        self.arrived.set()
        replies = self.script.get((request.method, request.path))
        if not replies:
            return web.json_response(
                status(404, "NotFound", f"nothing scripted for {request.path}"), status=404
            )
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if reply.chunks or reply.hold:
            return await self.stream(request, reply)
        if reply.cut:
            close(request)
        return web.json_response(reply.body or {}, status=reply.status, headers=reply.headers)

    async def stream(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for chunk in reply.chunks:
            await response.write(chunk)
        if reply.cut:
            close(request)
        if reply.hold:
            await asyncio.Event().wait()
        return response


def close(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def status(code: int, reason: str, message: str = "", **details: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "kind": "Status",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    }
    return body | ({"details": details} if details else {})


def line(kind: str, obj: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


def pod(name: str, revision: int, *, namespace: str = "default", node: str = "") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{name}",
            "resourceVersion": str(revision),
        },
        "spec": {"nodeName": node} if node else {},
    }


def bookmark(revision: int, *, initial_end: bool = False) -> bytes:
    annotations = {"annotations": {"k8s.io/initial-events-end": "true"}} if initial_end else {}
    return line(
        "BOOKMARK",
        {
            "kind": "Pod",
            "metadata": {"creationTimestamp": None, "resourceVersion": str(revision)} | annotations,
            "spec": {"containers": None},
        },
    )


@contextlib.asynccontextmanager
async def scripted() -> AsyncIterator[ScriptedServer]:
    server = ScriptedServer()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", server.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


@contextlib.asynccontextmanager
async def scripted_client(
    attempts: int = 6, *, seconds: float = 30.0, limit: int = 32
) -> AsyncIterator[tuple[ScriptedServer, Client]]:
    """`seconds` is how long the client waits for an answer, `limit` how many it waits for at once."""
    async with (
        scripted() as server,
        Client(server.connection(), attempts=attempts, timeout=seconds, limit=limit) as client,
    ):
        yield server, client
