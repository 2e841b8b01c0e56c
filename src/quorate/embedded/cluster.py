"""A whole cluster in this process: store, API server over TLS, built-in controllers, fake nodes, a kubeconfig.

`running` is the way in; `quorate up`, `quorate demo` and the system tests use it. With a data directory
everything, the certificates included, survives the end of the process.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from quorate.api.meta import Json, Kind
from quorate.embedded import kubeconfig
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.builtins.bootstrap import bootstrap
from quorate.embedded.builtins.recorder import Recorder
from quorate.embedded.builtins.start import Builtins
from quorate.embedded.builtins.writer import Writer
from quorate.embedded.clock import RealClock
from quorate.embedded.discovery import builtin_resources
from quorate.embedded.kubeconfig import Login
from quorate.embedded.kubelet import START_SECONDS
from quorate.embedded.nodes import NodeShape, nodes_of
from quorate.embedded.persistence import Journal
from quorate.embedded.pki import ADMIN_GROUP, Authority
from quorate.embedded.registry import Registry
from quorate.embedded.server import HttpServer
from quorate.embedded.store import Key, Store
from quorate.embedded.tokens import AUDIENCE, Authenticator
from quorate.plan import Ref

ADMIN = "quorate-admin"
_TOKEN_SECONDS = 10 * 365 * 86_400


@dataclass(frozen=True)
class Settings:
    """`manifests` are objects that every cluster of this kind has from the start.

    `leftovers` are those that only made sense while the process ran that wrote them: they are gone before
    anything is written to the data that it left behind.
    """

    nodes: tuple[NodeShape, ...] = ()
    manifests: tuple[Json, ...] = ()
    leftovers: tuple[Ref, ...] = ()
    host: str = "127.0.0.1"
    port: int = 0
    data_directory: Path | None = None
    start_seconds: float = START_SECONDS


@dataclass(frozen=True)
class Cluster:
    url: str
    api: ApiServer
    builtins: Builtins
    authority: Authority

    def nodes(self) -> list[Json]:
        return list(self.api.store.list("", "nodes"))

    def write_kubeconfig(self, path: Path) -> None:
        """For an administrator, by client certificate."""
        pair = self.authority.client(ADMIN, [ADMIN_GROUP])
        kubeconfig.write(path, self.url, self.authority.pair.certificate_pem, Login(ADMIN, pair))

    def write_account_kubeconfig(self, path: Path, namespace: str, name: str) -> None:
        """For a service account, by a token that outlives the process."""
        account = self.api.store.get(Key("", "serviceaccounts", namespace, name))
        assert account is not None, f"the service account {namespace}/{name} is among the manifests"
        assert self.api.authenticator is not None, "a running cluster knows who asks"
        token = self.api.authenticator.issue(account, seconds=_TOKEN_SECONDS, audiences=[AUDIENCE])
        login = Login(name, token=token)
        kubeconfig.write(path, self.url, self.authority.pair.certificate_pem, login)


@contextlib.asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Cluster]:
    """The cluster while the block lasts; what was acknowledged is on disk when it ends."""
    async with contextlib.AsyncExitStack() as stack:
        store = Store()
        clock = RealClock()
        api = ApiServer(Registry(builtin_resources()), store, now=clock.now)
        directory = settings.data_directory
        if directory is None:
            directory = Path(stack.enter_context(TemporaryDirectory(prefix="quorate-")))
        else:
            api.journal = Journal(directory, store)
            stack.push_async_callback(api.journal.close)
        authority = Authority(directory / "pki")
        api.authenticator = Authenticator(
            authority.pair.key_pem,
            lambda namespace, name: store.get(Key("", "serviceaccounts", namespace, name)),
            now=clock.now,
        )
        root_ca = authority.pair.certificate_pem.decode()
        builtins = Builtins(api, clock, root_ca=root_ca, start_seconds=settings.start_seconds)
        server = HttpServer(api)
        await server.start(settings.host, settings.port, authority.server_context([settings.host]))
        stack.push_async_callback(server.stop)
        writer = Writer(api, Recorder(clock), "bootstrap")
        for leftover in settings.leftovers:
            await writer.delete(leftover)
        await stack.enter_async_context(_working(builtins))
        await _fill(writer, api, settings)
        yield Cluster(f"https://{settings.host}:{server.port}", api, builtins, authority)


@contextlib.asynccontextmanager
async def _working(builtins: Builtins) -> AsyncIterator[None]:
    task = asyncio.create_task(builtins.run())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _fill(writer: Writer, api: ApiServer, settings: Settings) -> None:
    await bootstrap(writer, nodes_of(settings.nodes))
    for kind, obj in _kinds(api, settings.manifests):
        await writer.ensure(kind, obj)


def _kinds(api: ApiServer, manifests: Iterable[Json]) -> Iterable[tuple[Kind, Json]]:
    for obj in manifests:
        group, _, version = obj["apiVersion"].rpartition("/")
        resource = api.registry.find_kind(group, version, obj["kind"])
        assert resource is not None, f"{obj['apiVersion']} {obj['kind']} is served or defined before"
        yield Kind(group, version, obj["kind"], resource.plural, resource.namespaced), obj
