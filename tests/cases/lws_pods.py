"""What pods of LeaderWorkerSets are made with: keys, labels, environment, TPUs and affinity terms."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from quorate.api.core import Pod
from quorate.workloads.lws import tpu
from quorate.workloads.lws.environment import value_of
from quorate.workloads.lws.groups import has_restarted
from quorate.workloads.lws.identity import Identity
from quorate.workloads.lws.keys import group_key, sub_group_key
from quorate.workloads.lws.names import Place
from quorate.workloads.lws.pods import completed, identity_labels
from tests.cases.deviations import Mismatch, explain
from tests.cases.lws_rules import RULES
from tests.cases.outcome import Outcome, deviating, failed, passed, unsupported

Json = dict[str, Any]

PREFIX = "leaderworkerset.sigs.k8s.io/"
SHAPE = re.compile(r'exclusive group="(.*)" sub_group="(.*)" type=(\w+) size=(\d+)')
TPU_NAMES = (tpu.WORKER_ID, tpu.NAME, tpu.WORKER_HOSTNAMES)


class UnnamedError(Exception):
    """A pod that is not named as the pods of a set are."""


def run(case: Json, file: Json) -> Outcome:
    if file["topic"] == "group_key":
        own = group_key(case["first"], case["second"])
        if case["second"].isdecimal():
            own = sub_group_key(case["first"], int(case["second"]))
        return compared("lws_keys", case, own, case["key"])
    function = case.get("function", "")
    if not function:
        return _admitted(case) if "in" in case else _grid(case)
    adapter = FUNCTIONS.get(function)
    return adapter(case) if adapter else unsupported(f"LWS function {function}")


def compared(topic: str, case: Json, got: object, want: object) -> Outcome:
    if got == want:
        return passed({"got": got})
    reason = explain(Mismatch(topic, case, want, got), rules=RULES)
    return deviating(reason) if reason else failed(f"expected {want!r}, got {got!r}")


_ORDINAL = re.compile(r"(.*)-(\d+)", re.DOTALL)


def parent_and_ordinal(pod: str) -> tuple[str, int] | None:
    """What stands before the last dash of a name, and the number after it: upstream knows a pod's set by that."""
    found = _ORDINAL.fullmatch(pod)
    return (found[1], int(found[2])) if found else None


def identity_of(pod: Json, subdomain: str) -> Identity:
    """Who a pod is by its name, labels and annotations; keys stand without their prefix."""
    labels, annotations, name = pod.get("labels") or {}, pod.get("annotations") or {}, pod["name"]
    found = parent_and_ordinal(name)
    if found is None:
        raise UnnamedError(name)
    is_leader = labels.get("worker-index") == "0"
    leader, index = (name, 0) if is_leader else found
    parent = parent_and_ordinal(leader)
    if parent is None:
        raise UnnamedError(leader)
    sub_group_size = annotations.get("subgroup-size")
    return Identity(
        set_name=parent[0],
        namespace=pod.get("namespace", ""),
        place=Place(parent[1], index),
        size=int(annotations["size"]),
        subdomain=name if is_leader and "subdomainPolicy" in annotations else subdomain,
        sub_group_size=int(sub_group_size) if sub_group_size else None,
        is_leader_excluded=annotations.get("subgroup-policy-type") == "LeaderExcluded",
        exclusive_topology=annotations.get("exclusive-topology", ""),
        sub_group_exclusive_topology=annotations.get("subgroup-exclusive-topology", ""),
    )


def processes_of(pod: Json, identity: Identity, count: int) -> tpu.Processes:
    says = (pod.get("annotations") or {}).get("leader-requests-tpus") == "true"
    return tpu.Processes(leader=count if identity.is_leader or says else 0, worker=count)


# pod_admission


def _admitted(case: Json) -> Outcome:
    given, want = case["in"], case.get("out")
    error = (want or {}).get("error") or case.get("error")
    is_volcano = "scheduling.k8s.io/group-name" in ((want or {}).get("annotations") or {})
    if "name" not in (given.get("labels") or {}) or error or is_volcano:
        return compared("lws_admission", case, "made", {"error": error} if error else "untouched")
    assert want is not None
    pod = {"namespace": _namespace(want), **given}
    identity = identity_of(pod, given.get("subdomain") or "")
    spec = {"containers": _containers(given, "containers")}
    inits = _containers(given, "init_containers")
    spec |= {"initContainers": inits} if inits else {}
    spec |= {"affinity": given["affinity"]} if given.get("affinity") else {}
    got = completed(spec, identity, processes_of(pod, identity, len(tpu.asking(spec))))
    return compared("lws_admission", case, _seen(got, identity, want), _shown(want))


def _namespace(want: Json) -> str:
    """The namespace, which some cases name only within the address of the leader."""
    env = dict(want["containers"][0].get("env") or ())
    return str(env.get("LWS_LEADER_ADDRESS", "")).rpartition(".")[2]


def _containers(given: Json, part: str) -> list[Json]:
    """Containers of the case in wire form; environments are lists of pairs there."""
    found = []
    for container in given.get(part) or ():
        env = [{"name": name, "value": value} for name, value in container.get("env") or ()]
        amount = str(container.get("tpu") or "0")
        resources = {"limits": {"google.com/tpu": amount}} if amount != "0" else {}
        found.append({"name": container["name"], "env": env, "resources": resources})
    return found


def _seen(spec: Json, identity: Identity, want: Json) -> Json:
    """What a case compares of a pod: labels that a pod gets by who it is, environment, sub-domain, affinity."""
    own = {key.removeprefix(PREFIX): value for key, value in identity_labels(identity).items()}
    missing = {"group-key"} - set(want.get("labels") or {})  # of workers, from a template that has it
    got: Json = {
        "labels": {name: value for name, value in own.items() if name not in missing},
        "containers": [_pairs(container) for container in spec["containers"]],
        "init_containers": [_pairs(container) for container in spec.get("initContainers") or ()],
        "subdomain": identity.subdomain,
    }
    return got | ({"affinity": spec.get("affinity")} if "affinity" in want else {})


def _shown(want: Json) -> Json:
    known = {"name", "group-index", "worker-index", "group-key", "subgroup-index", "subgroup-key"}
    labels = {key: value for key, value in (want.get("labels") or {}).items() if key in known}
    shown: Json = {
        "labels": labels,
        "containers": [[c["name"], c.get("env") or []] for c in want["containers"]],
        "init_containers": [[c["name"], c.get("env") or []] for c in want.get("init_containers") or ()],
        "subdomain": want.get("subdomain") or "",
    }
    return shown | ({"affinity": want["affinity"]} if "affinity" in want else {})


def _pairs(container: Json) -> list[Any]:
    return [container["name"], [[each["name"], each["value"]] for each in container.get("env") or ()]]


def _group_variables(case: Json) -> Outcome:
    given = case["pod"]
    short = {
        part: {key.removeprefix(PREFIX): value for key, value in (given.get(part) or {}).items()}
        for part in ("labels", "annotations")
    }
    pod = {**given, **short}
    if "group-index" not in pod["labels"] or "size" not in pod["annotations"]:
        return compared("lws_admission", case, "made", {"error": case["expect"]})
    identity = identity_of(pod, case["subdomain"])
    spec = completed({"containers": [{"name": "a"}]}, identity, tpu.Processes(0, 0))
    got = {each["name"]: each["value"] for each in spec["containers"][0]["env"]}
    return compared("lws_admission", case, got, {name: str(v) for name, v in case["expect"].items()})


def _value(case: Json) -> Outcome:
    got = value_of(case["container"], case["env"])
    return compared("lws_environment", case, got, case["expect_value"] if case["expect_found"] else "")


# tpu_env


def _grid(case: Json) -> Outcome:
    if "admission_error" in case:
        return compared("lws_tpu", case, "made", {"error": case["admission_error"]})
    is_on_leader = case["tpu_on"] == "all"
    identity = Identity(
        set_name="llm",
        namespace="ml",
        place=Place(2, case["worker_index"]),
        size=case["size"],
        subdomain="llm",
        sub_group_size=case["sub_group_size"],
        is_leader_excluded=case["type"] == "LeaderExcluded",
    )
    is_served = is_on_leader or not identity.is_leader
    spec = {"containers": [_container("a", "4" if is_served else "0")]}
    got = tpu.with_tpus(spec, identity, tpu.Processes(1 if is_on_leader else 0, 1))
    env = {each["name"]: each["value"] for each in got["containers"][0].get("env") or ()}
    if not env:
        return compared("lws_tpu", case, None, case["env"])
    hosts = env[tpu.WORKER_HOSTNAMES].split(",")
    assert env[tpu.PROCESS_ADDRESSES] == ",".join(f"{host}:8476" for host in hosts)
    assert env[tpu.PROCESS_PORT] == "8476"
    return compared("lws_tpu", case, [env[name] for name in TPU_NAMES], case["env"])


def _container(name: str, amount: str, env: Any = ()) -> Json:
    resources = {"limits": {"google.com/tpu": amount}} if amount != "0" else {}
    variables = [each if isinstance(each, dict) else dict(zip(("name", "value"), each)) for each in env]  # noqa: B905 - pairs
    return {"name": name, "resources": resources, "env": variables}


def _tpu_table(case: Json) -> Outcome:
    spec: Json = {"containers": [], "initContainers": []}
    for each in case["containers"]:
        part = "initContainers" if each["init"] else "containers"
        spec[part].append(_container(each["name"], str(each["tpu"]), each["env"]))
    served = tpu.asking(spec)
    want = case["expect_first_container"]
    if not served:
        return compared("lws_tpu", case, None, want)
    pod = {"name": case["pod"] or "", "labels": case["labels"], "annotations": dict(case["annotations"])}
    pod["annotations"]["size"] = str(case["size"] or _size_of_sub_groups(pod, served))
    try:
        identity = identity_of(pod, case["subdomain"])
    except UnnamedError:
        return compared("lws_tpu", case, {"error": True}, {"error": case["expect_error"]})
    got = tpu.with_tpus(spec, identity, processes_of(pod, identity, len(served)))
    first = next(each for each in tpu.asking(got) if each["name"] == served[0]["name"])
    env = {each["name"]: each["value"] for each in first["env"]}
    return compared("lws_tpu", case, {name: env.get(name) for name in want or ()}, want or {})


def _size_of_sub_groups(pod: Json, served: list[Json]) -> int:
    """A size that fits the labels of a case that names none."""
    index, size = pod["labels"].get("subgroup-index", "0"), int(pod["annotations"].get("subgroup-size", 1))
    if not index.isdecimal():
        return 1
    is_on_leader = pod["annotations"].get("leader-requests-tpus") == "true"
    is_leader = pod["labels"].get("worker-index") == "0"
    whole = size * (int(index) + 1)
    return whole if served and (is_on_leader or is_leader) and size > 1 else whole + 1


def _kept(case: Json) -> Outcome:
    """Which of the names is there already, and whether there are sub-groups, the case says in words."""
    name = tpu.WORKER_ID if tpu.WORKER_ID in case["case"] else tpu.WORKER_HOSTNAMES
    identity = Identity(
        "a", "ml", Place(0, 1), 4, "a", sub_group_size=None if "non-sub" in case["case"] else 2
    )
    spec = {"containers": [_container("a", "4", [{"name": name, "value": "1"}])]}
    got = tpu.with_tpus(spec, identity, tpu.Processes(1, 1)) == spec
    return compared("lws_tpu", case, got, case["expect_env_unchanged"])


def _asking(case: Json) -> Outcome:
    served = [each["name"] for each in tpu.asking(case["pod_spec"])]
    if "expect_count" in case:
        return compared("lws_tpu", case, len(served), case["expect_count"])
    if "expect_name" in case:
        return compared("lws_tpu", case, served[0] if served else None, case["expect_name"])
    return compared("lws_tpu", case, bool(served), case["expect"])


# exclusive_placement


def _terms(case: Json) -> Outcome:
    found = SHAPE.fullmatch(case["shape"])
    if found is None:
        return unsupported(f"LWS shape {case['shape']}")
    group, sub_group, kind, size = found.groups()
    annotations = {
        "size": size,
        "subgroup-size": "2",
        "subgroup-policy-type": kind,
        "exclusive-topology": group,
        "subgroup-exclusive-topology": sub_group,
    }
    labels = {"worker-index": case["labels"]["worker-index"]}
    pod = {"name": case["pod"], "namespace": "ml", "labels": labels, "annotations": annotations}
    identity = identity_of(pod, "llm")
    affinity = completed({"containers": []}, identity, tpu.Processes(0, 0)).get("affinity") or {}
    own = {key.removeprefix(PREFIX): value for key, value in identity_labels(identity).items()}
    got = {
        "affinity": _rows(affinity.get("podAffinity")),
        "anti_affinity": _rows(affinity.get("podAntiAffinity")),
        "labels": {**own, "template-revision-hash": "rev1"},
    }
    return compared("lws_exclusive", case, got, {name: case[name] for name in got})


def _rows(rules: Json | None) -> list[Json] | None:
    terms = (rules or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or []
    return [
        {
            "expressions": [
                [each["key"], each["operator"], *each.get("values", ())]
                for each in term["labelSelector"]["matchExpressions"]
            ],
            "topology_key": term["topologyKey"],
        }
        for term in terms
    ] or None


def _already_applied(case: Json) -> Outcome:
    """Whether the pod is left as it is."""
    spec = {**case["pod"]["spec"], "containers": []}
    identity = Identity("a", "ml", Place(0, 0), 2, "a", exclusive_topology=case["topology"])
    got = completed(spec, identity, tpu.Processes(0, 0)).get("affinity") == spec.get("affinity")
    return compared("lws_exclusive", case, got, case["expect"])


def _restarted(case: Json) -> Outcome:
    pod = msgspec.convert({**case["pod"], "spec": {}}, Pod)
    return compared("lws_restarts", case, has_restarted(pod), case["expect"])


FUNCTIONS: dict[str, Callable[[Json], Outcome]] = {
    "lws_env": _group_variables,
    "find_env": _value,
    "container_restarted": _restarted,
    "whole_group": _tpu_table,
    "sub_group": _tpu_table,
    "skip": _kept,
    "containers_requesting_tpu": _asking,
    "first_container_requesting_tpu": _asking,
    "pod_requests_tpu": _asking,
    "admission": _terms,
    "already_applied": _already_applied,
}
