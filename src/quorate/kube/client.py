"""The one HTTP client: a request of the Kubernetes API in, decoded bytes or a `KubeError` out.

One aiohttp session with kept-alive connections; at most `limit` requests at once (watches have their own
pool, or they would starve writes). Typed calls on objects stand in `resources.py`; writing belongs to
`apply.py` alone.
"""

import asyncio
import contextlib
import importlib.metadata
import platform
import random
import time
from collections.abc import AsyncIterator
from typing import Self

import aiohttp
import msgspec
from yarl import URL

from quorate.kube import metrics
from quorate.kube.auth import Connection
from quorate.kube.errors import KubeError, Unauthorized, error_of_answer, translate
from quorate.kube.retry import ATTEMPTS, asked_wait, delays, may_repeat

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
USER_AGENT = f"quorate/{importlib.metadata.version('quorate')} (python {platform.python_version()})"
LIMIT = 32
REQUEST_SECONDS = 30.0
# shorter than the idle time-out of API servers (90 s) and of usual load balancers, so that a POST does not
# meet a connection which the other side is closing
KEEP_ALIVE_SECONDS = 30.0


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One API request; `repeatable` says that processing it twice is the same as once."""

    verb: str
    method: str
    path: str
    resource: str = ""
    query: str = ""
    body: bytes | None = None
    content_type: str = JSON
    accept: str = JSON
    repeatable: bool = True


class Client:
    """Use as an async context manager, or `close` it."""

    def __init__(
        self,
        connection: Connection,
        *,
        limit: int = LIMIT,
        attempts: int = ATTEMPTS,
        timeout: float = REQUEST_SECONDS,
        chance: random.Random | None = None,
    ) -> None:
        self.connection = connection
        self._session = self._open(connection, limit, timeout)
        self._watches = self._open(connection, 0, None)
        self._attempts = attempts
        self._chance = chance or random.Random()  # noqa: S311 - jitter needs no secrecy
        self._server_name = connection.server_name or None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._session.close()
        await self._watches.close()

    async def send(self, request: Request) -> bytes:
        """The answer's body; failures are retried where that is safe, then raised as a `KubeError`."""
        started = time.perf_counter()
        try:
            return await self._persist(request)
        finally:
            metrics.request_seconds(request.verb).observe(time.perf_counter() - started)

    async def _persist(self, request: Request) -> bytes:
        waits = delays(self._chance)
        renewed = False
        for attempt in range(1, self._attempts + 1):
            try:
                return await self._once(request)
            except Unauthorized:
                if renewed or attempt == self._attempts:
                    raise
                renewed = True
            except KubeError as error:
                if attempt == self._attempts or not may_repeat(error, repeatable=request.repeatable):
                    raise
                metrics.RETRIES.labels(type(error).__name__).inc()
                await asyncio.sleep(max(next(waits), asked_wait(error)))
        raise AssertionError("the last attempt returns or raises")

    @contextlib.asynccontextmanager
    async def stream(self, request: Request, *, silence: float) -> AsyncIterator[aiohttp.StreamReader]:
        """The body as it comes, for watches; `silence` seconds without a byte end it as lost."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=REQUEST_SECONDS, sock_read=silence)
        try:
            async with self._watches.get(
                self._url(request),
                headers=await self._headers(request),
                timeout=timeout,
                server_hostname=self._server_name,
            ) as answer:
                if answer.status >= 400:
                    await self._refuse(request, answer)
                yield answer.content
        except KubeError:
            raise
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise translate(error, self.connection.server) from error

    async def _once(self, request: Request) -> bytes:
        try:
            async with self._session.request(
                request.method,
                self._url(request),
                data=request.body,
                headers=await self._headers(request),
                server_hostname=self._server_name,
            ) as answer:
                if answer.status >= 400:
                    await self._refuse(request, answer)
                metrics.requests(request.verb, request.resource, answer.status).inc()
                return await answer.read()
        except KubeError:
            raise
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise translate(error, self.connection.server) from error

    async def _refuse(self, request: Request, answer: aiohttp.ClientResponse) -> None:
        metrics.requests(request.verb, request.resource, answer.status).inc()
        if answer.status == 401:
            self.connection.credentials.invalidate()
        raise error_of_answer(answer.status, await answer.read(), answer.headers.get("Retry-After"))

    async def _headers(self, request: Request) -> dict[str, str]:
        headers = {"Accept": request.accept, **await self.connection.credentials.headers()}
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        return headers

    def _url(self, request: Request) -> URL:
        query = f"?{request.query}" if request.query else ""
        # encoded=True: paths are made of DNS labels and the query is encoded already; parsing costs 20 µs
        return URL(f"{self.connection.server}{request.path}{query}", encoded=True)

    @staticmethod
    def _open(connection: Connection, limit: int, timeout: float | None) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=limit, ssl=connection.tls or True, keepalive_timeout=KEEP_ALIVE_SECONDS, ttl_dns_cache=60
        )
        return aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=timeout, sock_connect=10.0),
            headers={"User-Agent": USER_AGENT},
            proxy=connection.proxy or None,
            auto_decompress=True,
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=1 << 18,
        )
