"""The workload controllers: each reads its object's children from the world and calls its pure function."""

from collections.abc import Iterable, Iterator

from quorate.api.meta import Json, Kind
from quorate.embedded.builtins.reconciler import Controller, Trigger
from quorate.embedded.builtins.selecting import Selectors
from quorate.embedded.builtins.world import World, key_of
from quorate.embedded.store import Event, Key
from quorate.plan import Change
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.cronjob import cronjob
from quorate.workloads.builtin.daemonset import daemonset
from quorate.workloads.builtin.deployment import deployment
from quorate.workloads.builtin.job import job, released
from quorate.workloads.builtin.outcome import Outcome, controller_of
from quorate.workloads.builtin.replicaset import replicaset, with_failure
from quorate.workloads.builtin.statefulset import statefulset


def owners(kind: Kind, child: Kind = kinds.POD) -> Trigger:
    """A child wakes its controller of that kind."""

    def keys(world: World, event: Event) -> Iterator[Key]:
        del world
        known = {reference["uid"]: reference for reference in _controllers(event)}
        namespace = event.key.namespace
        for reference in known.values():
            if reference["kind"] == kind.kind and reference["apiVersion"].partition("/")[0] == kind.group:
                yield key_of(kind, namespace, reference["name"])

    return Trigger(child, keys)


def _adopting(kind: Kind) -> tuple[Trigger, ...]:
    """A pod wakes its controller; one without a controller wakes all of that kind that would adopt it."""
    known = Selectors()

    def keys(world: World, event: Event) -> Iterator[Key]:
        del world
        if event.type != "DELETED" and controller_of(event.object) is None:
            yield from known.matching(event.key.namespace, event.object["metadata"].get("labels"))

    return owners(kind), Trigger(kind, known.learn), Trigger(kinds.POD, keys)


def _controllers(event: Event) -> Iterator[Json]:
    for item in (event.object, event.previous):
        reference = controller_of(item) if item is not None else None
        if reference is not None:
            yield reference


def _grandparents(world: World, event: Event) -> Iterator[Key]:
    """The Deployment behind a pod's ReplicaSet, for Recreate, which waits for pods to be gone."""
    if event.type != "DELETED":
        return
    for reference in _controllers(event):
        found = world.get(kinds.REPLICA_SET, event.key.namespace, reference["name"])
        above = controller_of(found) if found is not None and reference["kind"] == "ReplicaSet" else None
        if above is not None:
            yield key_of(kinds.DEPLOYMENT, event.key.namespace, above["name"])


def _all(kind: Kind) -> Iterable[Trigger]:
    """A node that comes, goes or changes its labels or taints may concern every object of the kind."""

    def keys(world: World, event: Event) -> Iterator[Key]:
        if event.previous is None or _node_shape(event.previous) != _node_shape(event.object):
            for item in world.all(kind):
                yield key_of(kind, item["metadata"]["namespace"], item["metadata"]["name"])

    return (Trigger(kinds.NODE, keys),)


def _node_shape(node: Json) -> tuple[object, ...]:
    spec = node.get("spec") or {}
    return node["metadata"].get("labels"), spec.get("taints"), spec.get("unschedulable")


def _replicaset(world: World, item: Json, now: float) -> Outcome:
    children = _children(world, item)
    neighbours = children
    if len(children) > item["spec"].get("replicas", 1):
        neighbours = _siblings(world, item)
    return replicaset(item, children, neighbours, now)


def _siblings(world: World, item: Json) -> list[Json]:
    """Pods of every ReplicaSet of the same Deployment."""
    above = controller_of(item)
    if above is None:
        return world.children(item["metadata"]["uid"], kinds.POD)
    sets = world.children(above["uid"], kinds.REPLICA_SET)
    return [pod for found in sets for pod in world.children(found["metadata"]["uid"], kinds.POD)]


def _children(world: World, item: Json, kind: Kind = kinds.POD) -> list[Json]:
    namespace, uid = item["metadata"]["namespace"], item["metadata"]["uid"]
    return [*world.children(uid, kind), *world.loose(kind, namespace, item["spec"].get("selector"))]


def _deployment(world: World, item: Json, now: float) -> Outcome:
    sets = _children(world, item, kinds.REPLICA_SET)
    owned = world.children(item["metadata"]["uid"], kinds.REPLICA_SET)
    recreates = item["spec"].get("strategy", {}).get("type") == "Recreate"
    pods = (
        [pod for found in owned for pod in world.children(found["metadata"]["uid"], kinds.POD)]
        if recreates
        else []
    )
    return deployment(item, sets, pods, now)


def _statefulset(world: World, item: Json, now: float) -> Outcome:
    uid, namespace = item["metadata"]["uid"], item["metadata"]["namespace"]
    known = world.children(uid, kinds.CONTROLLER_REVISION)
    claims = world.all(kinds.CLAIM, namespace) if item["spec"].get("volumeClaimTemplates") else ()
    return statefulset(item, _children(world, item), known, claims, now)


def _daemonset(world: World, item: Json, now: float) -> Outcome:
    known = world.children(item["metadata"]["uid"], kinds.CONTROLLER_REVISION)
    return daemonset(item, _children(world, item), world.all(kinds.NODE), known, now)


def _job(world: World, item: Json, now: float) -> Outcome:
    return job(item, world.children(item["metadata"]["uid"], kinds.POD), now)


def _without_job(world: World, key: Key) -> list[Change]:
    named = {"matchLabels": {"batch.kubernetes.io/job-name": key.name}}
    pods = world.pods_matching(key.namespace, named)
    return released([pod for pod in pods if (controller_of(pod) or {}).get("uid") not in world.live])


def _cronjob(world: World, item: Json, now: float) -> Outcome:
    return cronjob(item, world.children(item["metadata"]["uid"], kinds.JOB), now)


CONTROLLERS = (
    Controller(
        kinds.REPLICA_SET,
        "replicaset-controller",
        _replicaset,
        _adopting(kinds.REPLICA_SET),
        failed=with_failure,
    ),
    Controller(
        kinds.DEPLOYMENT,
        "deployment-controller",
        _deployment,
        (owners(kinds.DEPLOYMENT, kinds.REPLICA_SET), Trigger(kinds.POD, _grandparents)),
    ),
    Controller(
        kinds.STATEFUL_SET,
        "statefulset-controller",
        _statefulset,
        _adopting(kinds.STATEFUL_SET),
    ),
    Controller(
        kinds.DAEMON_SET,
        "daemonset-controller",
        _daemonset,
        (*_adopting(kinds.DAEMON_SET), *_all(kinds.DAEMON_SET)),
    ),
    Controller(kinds.JOB, "job-controller", _job, (owners(kinds.JOB),), leftovers=_without_job),
    Controller(kinds.CRON_JOB, "cronjob-controller", _cronjob, (owners(kinds.CRON_JOB, kinds.JOB),)),
)
