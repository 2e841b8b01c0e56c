"""Endpoints and EndpointSlices of Services, and the status of PodDisruptionBudgets: objects that select pods.

A pod finds those that select it through one label of each selector, so an event costs what it concerns.
"""

from collections.abc import Iterable, Iterator

from quorate.api.meta import Json, Kind
from quorate.embedded.builtins.reconciler import Controller, Trigger
from quorate.embedded.builtins.selecting import Selectors, selector_of
from quorate.embedded.builtins.world import World
from quorate.embedded.store import Event, Key
from quorate.plan import Change
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.budget import budget
from quorate.workloads.builtin.endpoints import SERVICE_NAME, endpoints
from quorate.workloads.builtin.outcome import Outcome, controller_of, delete
from quorate.workloads.builtin.pods import is_finished, is_ready, node_of

_ZONE = "topology.kubernetes.io/zone"
_MANAGED_BY = "endpoints.kubernetes.io/managed-by"
_GATHER_SECONDS = 0.1  # changes of many pods make one pass over their Service


def _selected_by(kind: Kind) -> tuple[Trigger, Trigger]:
    known = Selectors()

    def find(_: World, event: Event) -> Iterator[Key]:
        before = event.previous if event.type == "MODIFIED" else None
        if before is not None and _shows(before) == _shows(event.object):
            return
        for item in (event.object, before):
            if item is not None:
                yield from known.matching(event.key.namespace, item["metadata"].get("labels"))

    return Trigger(kind, known.learn), Trigger(kinds.POD, find)


def _shows(pod: Json) -> tuple[object, ...]:
    """What of a pod can change endpoints or a budget."""
    meta = pod["metadata"]
    deleting = "deletionTimestamp" in meta
    return (
        is_ready(pod),
        is_finished(pod),
        deleting,
        pod.get("status", {}).get("podIP"),
        node_of(pod),
        meta.get("labels"),
    )


def _endpoints(world: World, item: Json, now: float) -> Outcome:
    del now
    meta = item["metadata"]
    matched = world.pods_matching(meta["namespace"], selector_of(item))
    slices = [
        found
        for found in world.children(meta["uid"], kinds.ENDPOINT_SLICE)
        if (found["metadata"].get("labels") or {}).get(SERVICE_NAME) == meta["name"]
    ]
    legacy = world.get(kinds.ENDPOINTS, meta["namespace"], meta["name"])
    zones = {}
    for name in {node_of(pod) for pod in matched} - {""}:
        node = world.get(kinds.NODE, "", name)
        zone = (node or {"metadata": {}})["metadata"].get("labels", {}).get(_ZONE)
        if zone:
            zones[name] = zone
    return endpoints(item, matched, slices, legacy, zones)


def _budget(world: World, item: Json, now: float) -> Outcome:
    matched = world.pods_matching(item["metadata"]["namespace"], selector_of(item))
    return budget(item, matched, _scale(world, matched), now)


def _scale(world: World, matched: Iterable[Json]) -> int | str:
    """The sum over distinct controllers of the replicas they ask for, or the reason why it is unknown."""
    sizes: dict[str, int] = {}  # by uid of the top controller
    seen: set[str] = set()
    for pod in matched:
        owner = controller_of(pod)
        if owner is None:
            return f'found no controllers for pod "{pod["metadata"]["name"]}"'
        if owner["uid"] in seen:
            continue
        seen.add(owner["uid"])
        found = _top(world, owner)
        size = (found.get("spec") or {}).get("replicas") if found is not None else None
        if found is None or size is None:
            group = owner["apiVersion"].partition("/")[0]
            return f"{owner['kind'].lower()}s.{group} does not implement the scale subresource"
        sizes[found["metadata"]["uid"]] = size
    return sum(sizes.values())


def _top(world: World, owner: Json) -> Json | None:
    key = world.live.get(owner["uid"])
    found = world.store.get(key) if key is not None else None
    above = controller_of(found) if found is not None and owner["kind"] == "ReplicaSet" else None
    return _top(world, above) if above is not None else found


def _without_service(world: World, key: Key) -> list[Change]:
    found = world.get(kinds.ENDPOINTS, key.namespace, key.name)
    managed = found is not None and _MANAGED_BY in (found["metadata"].get("labels") or {})
    return [delete(kinds.ENDPOINTS, found)] if found is not None and managed else []


def _size(world: World, item: Json) -> int:
    return world.count_pods(item["metadata"]["namespace"], selector_of(item))


CONTROLLERS = (
    Controller(
        kinds.SERVICE,
        "endpoints-controller",
        _endpoints,
        _selected_by(kinds.SERVICE),
        leftovers=_without_service,
        delay=_GATHER_SECONDS,
        size=_size,
    ),
    Controller(
        kinds.DISRUPTION_BUDGET,
        "disruption-controller",
        _budget,
        _selected_by(kinds.DISRUPTION_BUDGET),
        delay=_GATHER_SECONDS,
        size=_size,
    ),
)
