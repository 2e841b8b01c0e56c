"""The embedded cluster with our kinds and a queue, and the controllers of this product beside it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from quorate.api.batch import JOB
from quorate.api.core import POD, Pod
from quorate.api.crds import crds
from quorate.api.labels import QUEUE as QUEUE_LABEL
from quorate.api.meta import Json
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.api.queue import QUEUE
from quorate.api.shipped import objects
from quorate.controllers import app
from quorate.embedded import cluster
from quorate.embedded.nodes import node_shapes
from quorate.kube.apply import Writer
from quorate.kube.auth import Connection
from quorate.kube.cache import Cache
from quorate.kube.caches import Caches
from quorate.kube.client import Client
from quorate.kube.kubeconfig import connect
from quorate.kube.resources import Scope
from quorate.plan import Create, Plan, Ref

UNLIMITED: Json = {"quota": -1, "limit": -1, "overQuotaWeight": 1}


@dataclass(frozen=True)
class Fleet:
    cluster: cluster.Cluster
    connection: Connection
    writer: Writer
    pods: Cache[Pod]
    groups: Cache[PodGroup]

    async def create(self, *objects: Create) -> None:
        result = await self.writer.write(Plan(changes=objects))
        assert result.is_done, result.unmet

    def bound(self, prefix: str = "") -> int:
        return sum(bool(pod.spec.node_name) for pod in self.pods if pod.metadata.name.startswith(prefix))

    def requests(self) -> dict[tuple[str, str], int]:
        """Writes so far, by verb and resource."""
        return {
            key: count
            for key, count in self.cluster.api.counts.items()
            if key[0] not in {"get", "list", "watch"}
        }

    @asynccontextmanager
    async def controlled(
        self, settings: app.Settings | None = None, *, abruptly: bool = False
    ) -> AsyncIterator[None]:
        """With controllers at work; `abruptly` leaves as a killed process does, with writes under way."""
        stop, ready = asyncio.Event(), asyncio.Event()
        work = asyncio.create_task(
            app.run(self.connection, settings or app.Settings(), stop, ready=ready.set)
        )
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({work, waiting}, return_when=asyncio.FIRST_COMPLETED, timeout=20)
        assert ready.is_set(), work
        try:
            yield
        finally:
            if abruptly:
                work.cancel()
            stop.set()
            await asyncio.wait({work}, timeout=20)
            assert work.done()


@asynccontextmanager
async def fleet(folder: Path, nodes: str) -> AsyncIterator[Fleet]:
    settings = cluster.Settings(
        nodes=node_shapes(nodes), manifests=(*crds(), *objects(), queue("default-queue")), start_seconds=0.01
    )
    async with cluster.running(settings) as running:
        running.write_kubeconfig(folder / "kubeconfig")
        connection = connect([folder / "kubeconfig"])
        async with Client(connection) as client:
            caches = Caches(client)
            pods, groups = caches.of(Scope(kind=POD), Pod), caches.of(Scope(kind=POD_GROUP), PodGroup)
            async with app.background(caches.run()):
                await asyncio.wait_for(caches.synced(), 20)
                yield Fleet(running, connection, Writer(client, "test"), pods, groups)


def queue(name: str) -> Json:
    resources = {"cpu": UNLIMITED, "memory": UNLIMITED, "gpu": UNLIMITED}
    return {
        "apiVersion": QUEUE.api_version,
        "kind": QUEUE.kind,
        "metadata": {"name": name},
        "spec": {"resources": resources},
    }


def job(name: str, size: int, *, gpus: int, minimum: int = 1) -> Create:
    """A Job whose pods run until they are deleted."""
    limits = {"limits": {"nvidia.com/gpu": str(gpus)}}
    template: Json = {
        "metadata": {
            "labels": {QUEUE_LABEL: "default-queue"},
            "annotations": {"quorate.dev/fake-run-seconds": "3600"},
        },
        "spec": {
            "schedulerName": "quorate",
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "busybox", "resources": limits}],
        },
    }
    metadata: Json = {"annotations": {"quorate.dev/min-member": str(minimum)}}
    body: Json = {
        "metadata": metadata,
        "spec": {"parallelism": size, "completions": size, "template": template},
    }
    return Create(Ref(kind=JOB, name=name, namespace="default"), body)
