"""`python -m bench.segments`: what segment placement adds to the reconciling of a RoleBasedGroup.

The same group with and without segments, in the same run and in turns, so that a busy machine slows both.

latency: from a pod that turns unready, or ready again, to the status of its group that says so, on `quorate up`;
each time after all that the change before brought about has been done. Of all times the best quarter counts, for what
else the machine does only ever slows.
pass: the time of this in which the controller thinks: from the objects in its caches to the plan.
"""

import argparse
import asyncio
import copy
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from statistics import quantiles
from typing import Any

import msgspec

from quorate.api.core import POD
from quorate.api.rbg import ROLE_BASED_GROUP
from quorate.kube.client import Client
from quorate.kube.kubeconfig import connect
from quorate.kube.resources import Scope, status_request, watch_request
from quorate.kube.watch import whole_lines
from quorate.plan import Ref, SetStatus
from quorate.workloads.rbg.reconcile import reconcile
from quorate.workloads.rbg.seen import Seen
from tests.fakes.rbg import Role, group
from tests.fakes.rbg_world import World, placed, role
from tests.kubectl import Kubectl
from tests.system.cluster import embedded

LIMIT = 0.05  # of the latency without segments
SIZES = "{prefill: 10, decode: 5}"
WITHOUT, WITH = "plain", "placed"
SETTLE_SECONDS = 0.6


def settled(segments: int, *, with_placement: bool) -> Seen:
    """Ten prefill and five decode instances of a segment, all ready."""
    roles = [role("prefill", 10 * segments), role("decode", 5 * segments)]
    world = World(roles, placed({"prefill": 10, "decode": 5}) if with_placement else [])
    world.settle(rounds=10 * segments + 20)
    # copied, for objects that came over hundreds of rounds lie apart in memory, and reading them takes longer
    return copy.deepcopy(world.seen())


def pass_seconds(segments: int, repeat: int) -> tuple[float, float]:
    """Without and with segments."""
    plain, with_segments = (settled(segments, with_placement=flag) for flag in (False, True))
    pairs = [(_pass(plain), _pass(with_segments)) for _ in range(repeat)]
    return best_quarter([one for one, _ in pairs]), best_quarter([one for _, one in pairs])


def best_quarter(times: Sequence[float]) -> float:
    return quantiles(times, n=4)[0]


def _pass(seen: Seen) -> float:
    began = time.process_time()
    plan = reconcile(seen)
    ended = time.process_time()
    assert not plan.changes, "a settled group needs nothing"
    return ended - began


def latency_seconds(segments: int, repeat: int) -> tuple[float, float]:
    """Without and with segments, of groups side by side in one cluster."""
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        with embedded(kubeconfig, "--nodes", f"{4 * segments}x8gpu"):
            shell = Kubectl(kubeconfig, Path(folder))
            roles = [Role("prefill", 10 * segments), Role("decode", 5 * segments)]
            shell.apply(group(WITHOUT, roles) + "---" + group(WITH, roles, SIZES))
            for name in (WITHOUT, WITH):
                resource = f"{ROLE_BASED_GROUP.resource}/{name}"
                shell("wait", resource, "--for=condition=Ready", "--timeout=300s", timeout=310)
            found = asyncio.run(_flips(kubeconfig, 10 * segments, repeat))
    return best_quarter(found[WITHOUT]), best_quarter(found[WITH])


async def _flips(kubeconfig: Path, wanted: int, repeat: int) -> dict[str, list[float]]:
    async with Client(connect([kubeconfig])) as client:
        seen: dict[str, asyncio.Queue[int]] = {WITHOUT: asyncio.Queue(), WITH: asyncio.Queue()}
        watching = asyncio.create_task(_watch(client, seen))
        found: dict[str, list[float]] = {WITHOUT: [], WITH: []}
        for turn in range(repeat):
            for name in (WITHOUT, WITH) if turn % 2 else (WITH, WITHOUT):
                for is_ready in (False, True):
                    found[name].append(
                        await _flip(client, seen[name], name, is_ready=is_ready, wanted=wanted)
                    )
        watching.cancel()
        return found


async def _flip(client: Client, seen: asyncio.Queue[int], name: str, *, is_ready: bool, wanted: int) -> float:
    pod = Ref(kind=POD, name=f"{name}-prefill-3", namespace="default")
    condition = {"type": "Ready", "status": "True" if is_ready else "False"}
    began = time.perf_counter()
    await client.send(status_request(SetStatus(pod, {"conditions": [condition]})))
    while await asyncio.wait_for(seen.get(), 30) != wanted - (not is_ready):
        pass
    taken = time.perf_counter() - began
    await asyncio.sleep(SETTLE_SECONDS)
    return taken


async def _watch(client: Client, seen: dict[str, asyncio.Queue[int]]) -> None:
    async for event in _events(client):
        group_seen = event["object"]
        ready = {one["name"]: one.get("readyReplicas", 0) for one in group_seen["status"]["roleStatuses"]}
        seen[group_seen["metadata"]["name"]].put_nowait(ready["prefill"])


async def _events(client: Client) -> AsyncIterator[dict[str, Any]]:
    request = watch_request(Scope(kind=ROLE_BASED_GROUP, namespace="default"), {})
    async with client.stream(request, silence=600) as content:
        async for lines in whole_lines(content):
            for line in filter(None, lines):
                yield msgspec.json.decode(line)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=50)
    parser.add_argument("--segments", type=int, nargs="+", default=[10, 30])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    rows = []
    print(f"{'':<9}{'segments':>9}{'pods':>7}{'without ms':>12}{'with ms':>10}{'overhead':>10}  verdict")
    for segments in options.segments:
        for name, measured, limit in (("latency", latency_seconds, LIMIT), ("pass", pass_seconds, None)):
            without, having = measured(segments, options.repeat)
            overhead = having / without - 1
            verdict = "" if limit is None else "ok" if overhead < limit else "slow"
            counts = f"{segments:>9}{15 * segments:>7}"
            print(f"{name:<9}{counts}{1e3 * without:>12.2f}{1e3 * having:>10.2f}{overhead:>10.1%}  {verdict}")
            rows.append(
                {
                    "what": name,
                    "segments": segments,
                    "pods": 15 * segments,
                    "without_seconds": without,
                    "with_seconds": having,
                    "overhead": overhead,
                    "limit": limit,
                    "load": os.getloadavg()[0],
                    "machine": f"{platform.machine()}, Python {platform.python_version()}",
                }
            )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if all(row["limit"] is None or row["overhead"] < row["limit"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
