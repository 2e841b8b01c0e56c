"""A cluster without HTTP for tests: the API server's verbs, every built-in controller, virtual time."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from quorate.api.meta import Json, Kind
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.builtins.bootstrap import bootstrap
from quorate.embedded.builtins.recorder import Recorder
from quorate.embedded.builtins.start import Builtins
from quorate.embedded.builtins.writer import Writer
from quorate.embedded.clock import VirtualClock
from quorate.embedded.discovery import builtin_resources
from quorate.embedded.nodes import node_shapes, nodes_of
from quorate.embedded.registry import Registry
from quorate.embedded.store import Key, Store
from quorate.plan import Ref
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.outcome import ref

BY_NAME = {kind.kind: kind for kind in vars(kinds).values() if isinstance(kind, Kind)}


class SmallCluster:
    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._begin(VirtualClock().now())
        self._serve(Store())

    def _begin(self, at: float) -> None:
        self.clock = VirtualClock(at)
        self.clock.watch(lambda: self.builtins.is_idle)

    def _serve(self, store: Store) -> None:
        self.api = ApiServer(Registry(builtin_resources()), store, now=self.clock.now)
        self.writer = Writer(self.api, Recorder(self.clock), "test")
        self.builtins = Builtins(self.api, self.clock)

    async def start(self) -> None:
        self._task = asyncio.create_task(self.builtins.run())
        await self.clock.settle()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def restart(self, *, after: float = 0) -> None:
        """End the process and, seconds later, start another one on what is stored."""
        await self.stop()
        self._begin(self.clock.now() + after)
        old, new = self.api.store, Store()
        found = [
            (Key(group, plural, namespace, name), entry.object)
            for group, plural in old.resources()
            for namespace, name, entry in old.entries(group, plural)
        ]
        new.restore(found, old.revision + 1)
        self._serve(new)
        await self.start()

    async def create(self, obj: Json, namespace: str = "default") -> Json:
        kind = BY_NAME[obj["kind"]]
        meta = {**obj["metadata"], **({"namespace": namespace} if kind.namespaced else {})}
        made = await self.writer.create(kind, {**obj, "metadata": meta})
        await self.clock.settle()
        return made

    async def merge(self, kind: Kind, name: str, body: Json, namespace: str = "default") -> None:
        await self.writer.merge(self.ref(kind, name, namespace), body)
        await self.clock.settle()

    async def delete(
        self, kind: Kind, name: str, namespace: str = "default", propagation: str | None = "Background"
    ) -> None:
        await self.writer.delete(self.ref(kind, name, namespace), propagation=propagation)
        await self.clock.settle()

    def ref(self, kind: Kind, name: str, namespace: str = "default") -> Ref:
        return Ref(kind=kind, name=name, namespace=namespace if kind.namespaced else "")

    def find(self, kind: Kind, name: str, namespace: str = "default") -> Json | None:
        key = Key(kind.group, kind.plural, namespace if kind.namespaced else "", name)
        return self.api.store.get(key)

    def get(self, kind: Kind, name: str, namespace: str = "default") -> Json:
        found = self.find(kind, name, namespace)
        assert found is not None, f"{kind} {name} is missing"
        return found

    def all(self, kind: Kind, namespace: str = "default") -> list[Json]:
        return list(self.api.store.list(kind.group, kind.plural, namespace if kind.namespaced else None))

    def names(self, kind: Kind, namespace: str = "default") -> list[str]:
        return [item["metadata"]["name"] for item in self.all(kind, namespace)]

    def reasons(self, namespace: str = "default") -> list[str]:
        return [item["reason"] for item in self.all(kinds.EVENT, namespace)]

    def condition(self, item: Json, kind: str) -> Json:
        found: Json = next(each for each in item["status"]["conditions"] if each["type"] == kind)
        return found

    async def advance(self, seconds: float) -> None:
        await self.clock.advance(seconds)

    async def bind(self, name: str, node: str) -> None:
        await self.writer.bind(ref(kinds.POD, self.get(kinds.POD, name)), node)
        await self.clock.settle()


@contextlib.asynccontextmanager
async def small_cluster(nodes: str = "3x8gpu") -> AsyncIterator[SmallCluster]:
    cluster = SmallCluster()
    await bootstrap(cluster.writer, nodes_of(node_shapes(nodes)))
    await cluster.start()
    try:
        yield cluster
    finally:
        await cluster.stop()


def run(scenario: Callable[[SmallCluster], Awaitable[None]], nodes: str = "3x8gpu") -> None:
    """Play a scenario on a new cluster."""

    async def inside() -> None:
        async with small_cluster(nodes) as cluster:
            await scenario(cluster)

    asyncio.run(inside())


def pod_template(labels: dict[str, str], *, gpus: int = 0, **spec: Any) -> Json:
    limits = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
    container = {"name": "main", "image": "busybox", "resources": limits}
    return {"metadata": {"labels": labels}, "spec": {"containers": [container], **spec}}


def pod(name: str, *, annotations: dict[str, str] | None = None, gpus: int = 0, **spec: Any) -> Json:
    template = pod_template({"app": name}, gpus=gpus, **spec)
    meta = {"name": name, "labels": {"app": name}, "annotations": annotations or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]}


def workload(kind: Kind, name: str, *, template: Json | None = None, **spec: Any) -> Json:
    """An object of `apps` with a selector on `app: name`."""
    labels = {"app": name}
    body = {"selector": {"matchLabels": labels}, "template": template or pod_template(labels), **spec}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, "spec": body}
