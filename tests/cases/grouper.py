"""Cases of the pod grouper: reconciles over a small world of objects, and calls of one kind's rules."""

import copy
import itertools
from dataclasses import replace
from typing import Any

import msgspec

from quorate.api.core import Pod
from quorate.api.labels import NODE_POOL
from quorate.grouping import grouper as core
from quorate.grouping.errors import GroupingError
from quorate.grouping.objects import owner_from_json
from quorate.grouping.samples import reference
from quorate.grouping.subject import Extensions, Peers, Subject
from tests.cases.deviations import Mismatch, explain
from tests.cases.grouper_deviations import RULES as DEVIATIONS
from tests.cases.grouper_rules import RULES
from tests.cases.grouper_world import World
from tests.cases.outcome import Outcome, deviating, failed, passed

Json = dict[str, Any]


def run(case: Json, file: Json) -> Outcome:
    expected, got = _metadata(case) if "ownerChain" in case else _reconciles(case, file["fixtures"])
    if expected == got:
        return passed(got)
    rule = explain(Mismatch("grouper", case, expected, got), rules=DEVIATIONS)
    return deviating(rule, got) if rule else failed(_difference(expected, got), got)


def _difference(expected: Any, got: Any, path: str = "") -> str:
    """The first place where the two trees differ."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted({*expected, *got}, key=str):
            if expected.get(key) != got.get(key):
                return _difference(expected.get(key), got.get(key), f"{path}.{key}")
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for place, (left, right) in enumerate(zip(expected, got, strict=True)):
            if left != right:
                return _difference(left, right, f"{path}[{place}]")
    return f"{path.lstrip('.')}: expected {expected!r}, got {got!r}"


def _reconciles(case: Json, fixtures: dict[str, list[Json]]) -> tuple[Json, Json]:
    """Run the steps; compare the world afterwards, which steps failed, and that no more was written."""
    objects = [found for name in case.get("fixtures", ()) for found in fixtures[name]]
    world = World([*objects, *case["objects"]], case.get("config") or {}, case.get("forbiddenKinds") or ())
    expected_steps, got_steps = [], []
    for step in case["steps"]:
        observed = step.get("observed") or {}
        done = world.step(step)
        if step["op"] != "reconcile":
            continue
        upstream = observed.get("writes") or {}
        expected_steps.append(
            {"error": bool(observed.get("error") or observed.get("crash")), "more writes": {}}
        )
        more = {kind: count for kind, count in done.writes.items() if count > upstream.get(kind, 0)}
        got_steps.append({"error": bool(done.error), "more writes": more})
    return (
        {"steps": expected_steps, "podGroups": _by_name(case["expect"]["podGroups"]), "pods": _pods(case)},
        {"steps": got_steps, "podGroups": _by_name(world.pod_groups()), "pods": world.memberships()},
    )


def _by_name(groups: list[Json]) -> Json:
    return {
        f"{group['metadata']['namespace']}/{group['metadata']['name']}": _normal(group) for group in groups
    }


def _normal(group: Json) -> Json:
    meta = group["metadata"]
    annotations = {
        k: v for k, v in (meta.get("annotations") or {}).items() if not k.startswith("quorate.dev/")
    }
    return {
        "labels": meta.get("labels") or {},
        "annotations": annotations,
        "owners": [
            {key: owner.get(key, "") for key in ("apiVersion", "kind", "name", "uid")}
            for owner in meta.get("ownerReferences") or ()
        ],
        "spec": {key: value for key, value in group["spec"].items() if value not in (None, "", [], {})},
    }


def _pods(case: Json) -> Json:
    return {
        f"{pod['namespace']}/{pod['name']}": {
            "podGroup": pod["podGroup"] or None,
            "subGroup": pod["subGroup"],
        }
        for pod in case["expect"]["pods"]
    }


def _metadata(case: Json) -> tuple[Json, Json]:
    """One call of one kind's rules: the fields of the PodGroup, or the fact of an error."""
    expect = case["expect"]
    try:
        got = _call(case)
    except GroupingError as error:
        got = {"error": str(error)}
    if "error" in expect or "error" in got:
        return {"error": "error" in expect}, {"error": "error" in got}
    pool = (case["pod"]["metadata"].get("labels") or {}).get(NODE_POOL)
    if pool and NODE_POOL not in expect["metadata"]["labels"]:
        del got["labels"][NODE_POOL]  # upstream adds it one step later, outside of the call
    return _expected_metadata(expect["metadata"], case["pod"]["metadata"].get("name", "")), got


def _call(case: Json) -> Json:
    config = case.get("config") or {}
    pod = msgspec.convert(case["pod"], Pod)
    rules = RULES[case["grouper"]]
    if rules is None:
        return _whole_path(case)
    world = World([*case["objects"], *case["ownerChain"], *filter(None, [case["owner"]])], config, ())
    owner = owner_from_json(case["owner"] or {}, pod.metadata.namespace)
    chain = tuple(owner_from_json(found, pod.metadata.namespace) for found in case["ownerChain"]) or (owner,)
    subject = Subject(pod, owner, chain, Peers((pod, *world.pods())), world.context())
    gang, _ = core.gang([(subject, rules(subject))], subject.context)
    return _as_metadata(gang, pod)


def _whole_path(case: Json) -> Json:
    """From the pod upward; a grouper that skips its owner skips it whatever its kind."""
    objects, pod = _linked(case)
    world = World(objects, case.get("config") or {}, ())
    context = world.context(pod.spec.scheduler_name)
    if case["grouper"] == "skipTopOwnerGrouper":
        skipped = owner_from_json(case["owner"]).group_kind
        settings = replace(context.settings, extensions=Extensions(wrappers=frozenset({skipped})))
        context = replace(context, settings=settings)
    grouping = core.group([pod], context)
    if not grouping.gangs:
        return {"error": "; ".join(warned.message for warned in grouping.warnings)}
    return _as_metadata(grouping.gangs[0], pod)


def _linked(case: Json) -> tuple[list[Json], Pod]:
    """The objects and the pod, each of the chain that was handed over belonging to the next."""
    objects = copy.deepcopy([*case["ownerChain"], *filter(None, [case["owner"]]), *case["objects"]])
    pod = {"kind": "Pod", **copy.deepcopy(case["pod"])}
    chain = [pod, *case["ownerChain"], *filter(None, [case["owner"]])]
    for below, above in itertools.pairwise(chain):
        if _name(below) == _name(above):
            continue
        for one in (pod, *objects):
            if _name(one) == _name(below) and "ownerReferences" not in one["metadata"]:
                one["metadata"]["ownerReferences"] = [reference(above)]
    return objects, msgspec.convert(pod, Pod)


def _name(found: Json) -> tuple[str, str]:
    return str(found.get("kind", "")), str(found["metadata"].get("name", ""))


def _as_metadata(gang: core.Gang, pod: Pod) -> Json:
    normal = _normal(gang.body)
    groups = normal["spec"].get("subGroups", [])
    return {
        "name": gang.name,
        **normal,
        "owners": [_blank_pod(owner) for owner in normal["owners"]],
        "spec": {
            **normal["spec"],
            "subGroups": groups,
            "group of the pod": gang.members[0][1] if pod.metadata.name else "",
        },
    }


def _blank_pod(owner: Json) -> Json:
    """Typed pods in upstream's tests carry no kind; ours do."""
    return {**owner, "apiVersion": "", "kind": ""} if owner["kind"] == "Pod" else owner


def _expected_metadata(meta: Json, pod: str) -> Json:
    names = {"topology": "topologyConstraint"}
    groups = [
        {names.get(key, key): value for key, value in group.items() if value is not None and key != "pods"}
        for group in meta.get("subGroups") or ()
    ]
    spec = {
        "queue": meta["queue"],
        "priorityClassName": meta["priorityClassName"],
        "preemptibility": meta.get("preemptibility"),
        "minMember": meta.get("minMember"),
        "minSubGroup": meta.get("minSubGroup"),
        "topologyConstraint": meta.get("topology"),
        "preemptionDelay": meta.get("preemptionDelay"),
        "stalenessGracePeriod": meta.get("stalenessGracePeriod"),
    }
    kept = {key: value for key, value in spec.items() if value not in (None, "", {})}
    return {
        "name": meta["name"],
        "labels": meta["labels"],
        "annotations": meta["annotations"],
        "owners": [{key: meta["owner"].get(key, "") for key in ("apiVersion", "kind", "name", "uid")}],
        "spec": {**kept, "subGroups": groups, "group of the pod": _group_of(pod, meta)},
    }


def _group_of(pod: str, meta: Json) -> str:
    found = (group["name"] for group in meta.get("subGroups") or () if pod and pod in group["pods"])
    return next(found, "")
