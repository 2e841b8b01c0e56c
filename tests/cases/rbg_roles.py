"""Facts about the roles of a group: restarts, names, environment, gangs, circles of dependencies."""

from typing import Any

import msgspec

from quorate.admission.rbg import review
from quorate.admission.surroundings import Surroundings
from quorate.api import labels
from quorate.api.lws import LEADER_WORKER_SET
from quorate.api.rbg import Role, RoleBasedGroup, ServicePort
from quorate.api.rbgpolicy import ScalingAdapter
from quorate.rules.dependencies import DependencyError, levels
from quorate.workloads.backoff import Backoff
from quorate.workloads.lws.names import Place, pod_name
from quorate.workloads.lws.rollout import Extent, GroupState, Pace, advance, ready_tail
from quorate.workloads.rbg import amounts, environment, names, restart
from tests.cases.deviations import Mismatch, explain
from tests.cases.outcome import Outcome, deviating, failed, passed, unsupported

Json = dict[str, Any]


def run(case: Json, file: Json) -> Outcome:
    del file
    if _is_about_components(case):
        return unsupported("custom components of a role, which admission refuses")
    operation = OPERATIONS.get(case["op"])
    if operation is None:
        return unsupported(f"RoleBasedGroup {case['op']}")
    got, want = operation(case["input"]), case["expect"]
    # what is refused is refused in our own words
    compared = {key: value for key, value in want.items() if key not in {"error", "messageContains"}}
    if ("error" in got) == ("error" in want) and all(_same(got.get(k), v) for k, v in compared.items()):
        return passed(got)
    reason = explain(Mismatch(f"rbg_{case['op']}", case, want, got))
    return deviating(reason) if reason else failed(f"expected {want}, got {got}", got)


def _is_about_components(case: Json) -> bool:
    if case["op"] in {"component_reverse", "component_deletion_gates", "components_ready"}:
        return True
    component = case["op"] == "pod_name" and case["input"].get("component")
    return bool(component) and component not in {"leader", "worker"}


def _same(got: Any, want: Any) -> bool:
    """A span such as `0<x<=30` is a text."""
    if isinstance(want, str) and "x" in want and isinstance(got, int):
        low, _, high = want.partition("<x<=")
        return int(low or 0) < got <= int(high)
    return bool(got == want)


def _backoff(given: Json) -> Backoff:
    base, longest = given.get("base"), given.get("max", given.get("maxDelaySeconds"))
    usual = restart.BACKOFF
    return Backoff(usual.base if base is None else base, usual.longest if longest is None else longest)


def _delay(given: Json) -> Json:
    return {"seconds": _backoff(given).delay(given["restartCount"])}


def _count(given: Json) -> Json:
    return {"restartCount": _backoff(given).counted(given["restartCount"], given["secondsSinceLastRestart"])}


def _recent(given: Json) -> Json:
    return {"value": _backoff(given).is_recent(given["secondsSinceLastRestart"])}


def _remaining(given: Json) -> Json:
    if given.get("policy", restart.RECREATE_INSTANCE) != restart.RECREATE_INSTANCE:
        return {"remainingSeconds": 0}
    if not given.get("podFailed", True):
        return {"remainingSeconds": 0}
    left = _backoff(given).remaining(given.get("restartCount") or 0, given.get("secondsSinceLastRestart"))
    return {"remainingSeconds": left}


def _policy(given: Json) -> Json:
    config = given.get("config") or {}
    return {
        "type": restart.effective_type(
            given["pattern"], config.get("type") or "", given.get("restartPolicy") or ""
        ),
        "baseDelaySeconds": config.get("baseDelaySeconds", restart.BACKOFF.base),
        "maxDelaySeconds": config.get("maxDelaySeconds", restart.BACKOFF.longest),
    }


def _environment(given: Json) -> Json:
    return {"env": environment.merged(given.get("existing") or (), given.get("injected") or ())}


def _port(given: Json) -> Json:
    return {"key": names.port_key(msgspec.convert(given, ServicePort))}


def _address(given: Json) -> Json:
    group, role = given["group"], given["role"]
    workload, service = names.workload_name(group, role), names.service_name(group, role)
    return {"address": names.address(workload, given["index"], service)}


def _pod(given: Json) -> Json:
    """Instances are groups of a LeaderWorkerSet: the leader has index 0, the first worker index 1."""
    workload, _, instance = given["instance"].rpartition("-")
    index = given["id"] + 1 if given["component"] == "worker" else 0
    return {"name": pod_name(workload, Place(int(instance), index))}


def _engine(given: Json) -> Json:
    """A role's instances are groups of a LeaderWorkerSet, whatever its annotation says."""
    del given
    return {"apiVersion": LEADER_WORKER_SET.api_version, "kind": LEADER_WORKER_SET.kind}


def _types(given: Json) -> Json:
    """Types that upstream has given up are not refused: none is asked for."""
    del given
    return {"ok": True}


def _selection(given: Json | None) -> Json:
    role = given or {}
    annotations = {labels.RBG_ENGINE: role["workload"]} if role.get("workload") else {}
    wire: Json = {"name": "r", "annotations": annotations}
    if role.get("lwp"):
        wire["leaderWorkerPattern"] = {"sharedServiceSelection": role.get("value") or ""}
    return {"value": names.service_selection(msgspec.convert(wire, Role))}


def _rolled(given: Json) -> Json:
    return {"value": amounts.kept_back(given["partition"], given["replicas"])}


def _edited(given: Json) -> Json:
    def group(replicas: int) -> RoleBasedGroup:
        role = {"name": "r", "replicas": replicas, "template": {"spec": {"containers": [{"name": "c"}]}}}
        return msgspec.convert({"metadata": {"name": "g"}, "spec": {"roles": [role]}}, RoleBasedGroup)

    target = {"name": "g", "role": "r"}
    wire = {
        "metadata": {"name": "g-r"},
        "spec": {"replicas": given["adapterReplicas"], "scaleTargetRef": target},
    }
    adapters = {"g-r": msgspec.convert(wire, ScalingAdapter)} if given["scalingAdapterEnabled"] else {}
    found = review(group(given["newReplicas"]), group(given["oldReplicas"]), Surroundings(adapters=adapters))
    return {"ok": not found.errors}


def _tail(given: Json) -> Json:
    return {"value": ready_tail([GroupState(one["ready"], one["updated"]) for one in given["states"]])}


def _advanced(given: Json) -> Json:
    unavailable, surge = given.get("maxUnavailable") or 0, given.get("maxSurge") or 0
    pace = Pace(given["roleReplicas"], unavailable, surge, given.get("partition") or 0)
    states = [tuple(pod.split("/")) for pod in given["pods"]]
    groups = [GroupState(readiness == "ready", revision == "new") for revision, readiness in states]
    replicas = given.get("currentReplicas")
    now = None if replicas is None else Extent(given.get("currentPartition") or 0, replicas)
    found = advance(pace, groups, now, revision_changed=bool(given.get("templateChanged")))
    return {"partition": found.partition, "replicas": found.replicas}


def _named(given: Json) -> Json:
    group, role = given["group"], given["role"]
    return {"workload": names.workload_name(group, role), "service": names.service_name(group, role)}


def _circle(given: Json) -> Json:
    """What is named but does not exist cannot be part of a circle."""
    needs = {
        name: [other for other in others if other in given["startAfter"]]
        for name, others in given["startAfter"].items()
    }
    try:
        levels(needs)
    except DependencyError:
        return {"cycle": True}
    return {"cycle": False}


OPERATIONS = {
    "restart_delay_seconds": _delay,
    "restart_count_after": _count,
    "has_recent_restart": _recent,
    "restart_backoff_remaining": _remaining,
    "effective_restart_policy": _policy,
    "merge_env": _environment,
    "port_key": _port,
    "address": _address,
    "instance_address": _address,
    "workload_of_role": _engine,
    "validate_workload_types_switch_off": _types,
    "shared_service_selection": _selection,
    "validate_replicas_with_adapter": _edited,
    "continuous_ready_from_tail": _tail,
    "statefulset_rolling_parameters": _advanced,
    "partition_replicas": _rolled,
    "int_or_percent_at_least_one": lambda given: {
        "value": amounts.at_least_one(given["value"], given["replicas"])
    },
    "max_unavailable": lambda given: {
        "value": amounts.unavailable(
            given.get("maxUnavailable"), given.get("maxSurge") or 0, given["replicas"]
        )
    },
    "pod_name": _pod,
    "workload_and_service_name": _named,
    "component_cycle": _circle,
}
