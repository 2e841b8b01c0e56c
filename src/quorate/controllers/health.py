"""/healthz, /readyz and /metrics of a process that runs controllers."""

import asyncio
import os
from collections.abc import Callable

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from quorate.kube.errors import ConfigError


class HealthServer:
    """`problems` lists what keeps the process from being ready; an empty list is ready."""

    def __init__(self, problems: Callable[[], list[str]]) -> None:
        self._problems = problems

    async def run(self, host: str, port: int, *, started: Callable[[int], None] | None = None) -> None:
        """Serve until cancelled; `started` hears the port."""
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        runner = web.AppRunner(app, access_log=None, handle_signals=False)
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, host, port).start()
            except OSError as error:
                raise ConfigError(
                    f"cannot serve health on {host}:{port}: {os.strerror(error.errno or 0)}; choose another port"
                ) from error
            if started:
                started(runner.addresses[0][1])
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _readyz(self, _: web.Request) -> web.Response:
        problems = self._problems()
        if problems:
            return web.Response(status=503, text="\n".join(problems) + "\n")
        return web.Response(text="ok\n")

    async def _metrics(self, _: web.Request) -> web.Response:
        # thousands of series take tens of milliseconds to print: not on the loop
        body = await asyncio.to_thread(generate_latest)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})
