"""Facts about the gang of a whole group: its size, its minimums, and its PodGroup as the grouper would write it."""

from typing import Any

import msgspec

from quorate.api.labels import RBG_GANG_SCHEDULING
from quorate.api.meta import Json as Object
from quorate.api.podgroup import PodGroup
from quorate.api.rbg import ROLE_BASED_GROUP_UPSTREAM, Role, RoleBasedGroup
from quorate.grouping.offline import group_objects
from quorate.grouping.subject import Context, Settings
from quorate.rules import tree
from quorate.workloads.rbg.ahead import sets_in_the_end
from quorate.workloads.rbg.gang import GangRole, gang, pods_of
from quorate.workloads.rbg.group import read
from tests.cases.deviations import Mismatch, explain
from tests.cases.outcome import Outcome, deviating, failed, passed, unsupported

Json = dict[str, Any]

SCHEDULER_NAME = "quorate"
MANY = 10**6
CONTEXT = Context(settings=Settings(scheduler_names=frozenset({SCHEDULER_NAME})))


def run(case: Json, file: Json) -> Outcome:
    del file
    operations = {"group_size": _size, "gang_minimums": _minimums, "reconcile_pod_group": _reconciled}
    operation = operations.get(case["op"])
    if operation is None:
        return unsupported(f"gangs of whole groups: {case['op']}")
    got, want = operation(case["input"]), case["expect"]
    compared = {key: value for key, value in want.items() if key != "error"}
    if ("error" in got) == ("error" in want) and all(got.get(key) == compared[key] for key in compared):
        return passed(got)
    reason = explain(Mismatch(f"rbg_{case['op']}", case, want, got))
    return deviating(reason) if reason else failed(f"expected {want}, got {got}", got)


def _role(given: Json) -> Role:
    wire: Json = {"name": "r", "replicas": given["replicas"]}
    if given["pattern"] == "leaderWorker":
        wire["leaderWorkerPattern"] = {key: given[key] for key in ("size",) if given.get(key) is not None}
    if given["pattern"] == "customComponents":
        components = [{"name": f"c{at}", "size": size} for at, size in enumerate(given["components"])]
        wire["customComponentsPattern"] = {"components": components}
    return msgspec.convert(wire, Role)


def _size(given: Json) -> Json:
    roles = [_role(role) for role in given["roles"]]
    found = {str(at): GangRole(role.replicas, pods_of(role)) for at, role in enumerate(roles)}
    return {"minMember": gang(found).min_member}


def _minimums(given: Json) -> Json:
    roles = {
        name: GangRole(role["replicas"], role["podsPerReplica"]) for name, role in given["roles"].items()
    }
    minimums = given.get("minReplicas")
    try:
        found = gang(roles, minimums)
    except ValueError as error:
        return {"error": True, "message": str(error)}
    listed = found.roles if minimums else {}  # without minimums upstream counts pods alone
    return {
        "minMember": found.min_member,
        "subGroups": {
            name: {"minSubGroups": role.min_instances, "subGroupSize": role.pods}
            for name, role in listed.items()
        },
        "outsideGang": [name for name in roles if name not in found.roles],
    }


def _reconciled(given: Json) -> Json:
    """Who waits for whom is said by groups here: the pods they need together are upstream's minimum."""
    gangs = [one.body for one in group_objects(_objects(given), CONTEXT).gangs]
    whole = [body for body in gangs if _owner(body) == "RoleBasedGroup"]
    existing = given.get("existing")
    if not whole:
        # a PodGroup of ours in which nobody is goes
        return {
            "podGroup": "absent" if existing is None else "deleted" if existing.get("owned") else "unchanged"
        }
    groups = tree.build(msgspec.convert(whole[0], PodGroup))
    needed = sum(tree.core(groups, dict.fromkeys((leaf.name for leaf in groups.leaves), MANY)).values())
    change = (
        "created" if existing is None else "unchanged" if existing.get("minMember") == needed else "updated"
    )
    return {"podGroup": change, "minMember": needed, "ownerKind": _owner(whole[0])}


def _objects(given: Json) -> list[Object]:
    template = {"spec": {"containers": [{"name": "c"}]}}
    counts = given.get("roles") or [1]
    roles = [
        {"name": f"r{at}", "replicas": count, "standalonePattern": {"template": template}}
        for at, count in enumerate(counts)
    ]
    notes = {RBG_GANG_SCHEDULING: "true"} if given["gang"] else {}
    metadata = {"name": "g", "namespace": "default", "uid": "g-1", "annotations": notes}
    found = msgspec.convert({"metadata": metadata, "spec": {"roles": roles}}, RoleBasedGroup)
    kind = ROLE_BASED_GROUP_UPSTREAM
    owner = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
    return [owner, *sets_in_the_end(read(kind, found), SCHEDULER_NAME)]


def _owner(podgroup: Object) -> str:
    return str(podgroup["metadata"]["ownerReferences"][0]["kind"])
