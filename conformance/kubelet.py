"""Fake nodes for a real API server: `python -m conformance.kubelet KUBECONFIG SHAPES`.

Makes the nodes, keeps them alive, and lets pods that are bound to them run and end as the embedded kubelets do.
It looks at all pods again and again, which is enough for a test cluster.
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from conformance.volumes import provision
from quorate.api.core import LEASE, NODE, POD
from quorate.api.meta import Json, Kind
from quorate.embedded.kubelet import is_marked_down
from quorate.embedded.nodes import node_shapes, nodes_of
from quorate.kube.client import Client
from quorate.kube.errors import KubeError, NotFound
from quorate.kube.kubeconfig import connect
from quorate.kube.resources import (
    Scope,
    apply_request,
    delete_request,
    pages,
    status_request,
)
from quorate.plan import Apply, Delete, Ref, SetStatus
from quorate.workloads.builtin import podstatus
from quorate.workloads.builtin.fakery import Behaviour, behaviour
from quorate.workloads.builtin.instants import rfc3339
from quorate.workloads.builtin.pods import is_finished, is_ready, restarts

LOOK_SECONDS = 0.2
BEAT_SECONDS = 10.0
START_SECONDS = 0.5
LEASES = "kube-node-lease"


class Kubelets:
    def __init__(self, client: Client, nodes: list[Json]) -> None:
        self._client = client
        self._nodes = {node["metadata"]["name"]: node for node in nodes}
        self._runs: dict[str, _Run] = {}
        self._down: set[str] = set()
        self._beat = 0.0

    async def run(self) -> None:
        for node in self._nodes.values():
            await self._apply(NODE, "", {key: value for key, value in node.items() if key != "status"})
        while True:
            try:
                await self._fall()
                await self._heartbeat()
                async for pod in self._pods():
                    with contextlib.suppress(NotFound):  # somebody else was faster
                        await self._look(pod)
            except KubeError as error:
                print(f"kubelet: {error}", file=sys.stderr, flush=True)
            await asyncio.sleep(LOOK_SECONDS)

    async def _fall(self) -> None:
        """Nodes that a test says are down: they tell nothing, and their pods stay as they are."""
        found = pages(self._client, Scope(kind=NODE))
        nodes = [msgspec.json.decode(item) async for page in found for item in page.items or ()]
        self._down = {node["metadata"]["name"] for node in nodes if is_marked_down(node)}

    async def _heartbeat(self) -> None:
        now = time.time()
        if now - self._beat < BEAT_SECONDS:
            return
        self._beat = now
        at = rfc3339(now)
        for name, node in self._nodes.items():
            if name in self._down:
                continue
            ready = {
                "type": "Ready",
                "status": "True",
                "reason": "KubeletReady",
                "message": "kubelet is ready",
            }
            condition = ready | {"lastHeartbeatTime": at, "lastTransitionTime": at}
            status = {**node["status"], "conditions": [condition]}
            await self._client.send(
                status_request(SetStatus(target=Ref(kind=NODE, name=name), status=status))
            )
            spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": f"{at[:-1]}.000000Z"}
            await self._apply(LEASE, LEASES, {"metadata": {"name": name}, "spec": spec})

    async def _apply(self, kind: Kind, namespace: str, body: Json) -> None:
        target = Ref(kind=kind, name=body["metadata"]["name"], namespace=namespace)
        await self._client.send(
            apply_request(
                Apply(target=target, body=body | {"apiVersion": kind.api_version, "kind": kind.kind})
            )
        )

    async def _pods(self) -> AsyncIterator[Json]:
        async for page in pages(self._client, Scope(kind=POD)):
            for item in page.items or ():
                pod = msgspec.json.decode(item)
                if pod["spec"].get("nodeName") in self._nodes.keys() - self._down:
                    yield pod | {"apiVersion": "v1", "kind": "Pod"}

    async def _look(self, pod: Json) -> None:
        meta, now = pod["metadata"], time.time()
        ref = Ref(kind=POD, name=meta["name"], namespace=meta["namespace"], uid=meta["uid"])
        if meta.get("deletionTimestamp"):
            await self._stop(pod, ref)
        elif not is_finished(pod):
            status = self._next(pod, now)
            if status is not None:
                await self._client.send(status_request(SetStatus(target=ref, status=status)))

    async def _stop(self, pod: Json, ref: Ref) -> None:
        if pod["metadata"].get("finalizers") and not is_finished(pod):
            # somebody wants to see how it ended before the object goes
            ended = podstatus.ended(pod, 143, time.time())
            await self._client.send(status_request(SetStatus(target=ref, status=ended)))
        if pod["metadata"].get("deletionGracePeriodSeconds") or not pod["metadata"].get("finalizers"):
            await self._client.send(delete_request(Delete(target=ref, grace_seconds=0)))

    def _next(self, pod: Json, now: float) -> Json | None:
        """The status that is due, if it is another than the pod has."""
        acts = behaviour(pod, START_SECONDS)
        run = self._runs.setdefault(pod["metadata"]["uid"], _Run(len(self._runs), now + acts.start))
        if pod.get("status", {}).get("phase", "Pending") == "Pending":
            return (
                podstatus.running(pod, run.address, now, ready=not acts.ready) if now >= run.begin else None
            )
        if acts.run is not None and now >= run.begin + acts.run:
            return self._end(pod, run, acts, now)
        if not is_ready(pod) and now >= run.begin + acts.ready:
            return podstatus.running(pod, run.address, now, ready=True, restarts=restarts(pod))
        return None

    def _end(self, pod: Json, run: "_Run", acts: Behaviour, now: float) -> Json | None:
        """It ends for good, or runs again as its restart policy says: at once, then ever later."""
        policy = pod["spec"].get("restartPolicy", "Always")
        if policy == "Never" or (policy == "OnFailure" and not acts.exit_code):
            return podstatus.ended(pod, acts.exit_code, now)
        again = restarts(pod)
        delay = 10.0 * 2 ** (again - 1) if again else 0.0
        if now < run.begin + (acts.run or 0.0) + delay and is_ready(pod):
            return podstatus.backing_off(pod, acts.exit_code, delay, now)
        if now < run.begin + (acts.run or 0.0) + delay:
            return None
        run.begin = now
        ended = {**pod, "status": podstatus.ended(pod, acts.exit_code, now)}
        return podstatus.running(ended, run.address, now, ready=True, restarts=again + 1)


class _Run:
    """A pod's place among those seen, which makes its address, and when its containers begin (again)."""

    def __init__(self, place: int, begin: float) -> None:
        self.address = podstatus.Address("172.16.0.1", f"10.64.{place // 250}.{place % 250 + 1}")
        self.begin = begin


async def serve(kubeconfig: str, shapes: str) -> None:
    async with Client(connect([Path(kubeconfig)])) as client:
        kubelets = Kubelets(client, list(nodes_of(node_shapes(shapes))))
        await asyncio.gather(kubelets.run(), provision(client))


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2]))
