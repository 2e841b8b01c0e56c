"""KAI's unit tables on the texts of refusals, run on the functions that say them here."""

from dataclasses import replace
from typing import Any

from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.api.quantity import milli
from quorate.controllers.refused import refused
from quorate.plan import Emit, Ref, Refusal, SetStatus
from quorate.scheduling import reasons
from quorate.scheduling.left import Left
from quorate.scheduling.policy import new_trial
from tests.cases.deviations import Mismatch, explain
from tests.cases.outcome import Outcome, deviating, failed, passed, unsupported
from tests.fakes.clusters import Cluster, Group

Json = dict[str, Any]
Case = Json


def run(case: Case, file: Json) -> Outcome:
    tables = {"fit_errors": _findings, "args": _shortage, "err": _domain_text, "1": _main_error}
    table = next((table for field, table in tables.items() if field in case), None)
    return table(case) if table else unsupported(f"KAI unit table {file.get('about', '')!r}")


def _findings(case: Case) -> Outcome:
    rows, want = case["fit_errors"], case["want"]
    if any("detailed_0" in row for row in rows):
        findings = (
            reasons.Finding(row["subgroup"], row["detailed_0"], row.get("node_group", "")) for row in rows
        )
        text = reasons.unable(findings)
    else:
        said = reasons.summed(message for row in rows for message in row["messages"])
        text = reasons.head(len(rows)) + (": " + ". \n".join(said) + "." if said else "")
    return passed() if text == want else failed(f"{text!r}, expected {want!r}")


def _domain_text(case: Case) -> Outcome:
    err = case["err"]
    base = err["job_fit_error_base"]
    group = "" if base["sub_group_name"] == "default" else base["sub_group_name"]
    detail = ", ".join(base["detailed_messages"])
    text = reasons.line(reasons.Finding(group, detail, err["nodes_group_name"]))
    return passed() if text == case["want"] else failed(f"{text!r}, expected {case['want']!r}")


def _main_error(case: Case) -> Outcome:
    """What keeps a pod from every node is all that is said of it."""
    cluster = Cluster()
    cluster.node("n", 1)
    cluster.gang("job", [Group("", min_member=1, members=1)])
    snapshot = cluster.encoder.snapshot(cluster.now)
    blocked = tuple(replace(shape, blocked_by=case["1"]["err"]) for shape in snapshot.shapes)
    trial = new_trial(replace(snapshot, shapes=blocked), cluster.policy)
    text = Left(trial).lack(int(snapshot.pods.shape[0]), "").text
    return passed() if text == case["2"] else failed(f"{text!r}, expected {case['2']!r}")


def _record(case: Case) -> Outcome:
    """A refusal as the PodGroup shows it; without an explanation its message is all there is to say."""
    args, want = case["args"], case["want"]
    want = {**want, **want.get("job_fit_error_base", {})}
    details = args.get("detailed_messages") or args.get("detailed_reasons") or ()
    refusal = Refusal(
        gang=Ref(kind=POD_GROUP, name=args["job_name"], namespace=args["job_namespace"]),
        gate=args["reason"],
        message=", ".join(args["messages"]),
        group=args["sub_group_name"],
        domain=args.get("nodes_group_name", ""),
        explanation=", ".join(details),
    )
    (shown, event) = refused(refusal, PodGroup(), 0.0)
    assert isinstance(shown, SetStatus), "the condition comes first"
    assert isinstance(event, Emit), "then the event"
    (condition,) = shown.status["schedulingConditions"]
    (told,) = condition["reasons"]
    got = {
        "job_namespace": shown.target.namespace,
        "job_name": shown.target.name,
        "sub_group_name": told["group"],
        "reason": condition["reason"],
        "messages": event.message,
        "detailed_messages": told.get("explanation", told["message"]),
        "nodes_group_name": told.get("domain", ""),
    }
    expected = {name: want.get(name, "") for name in got}
    expected |= {name: ", ".join(want[name]) for name in ("messages", "detailed_messages")}
    return passed() if got == expected else failed(f"{got}, expected {expected}")


def _shortage(case: Case) -> Outcome:
    args, want = case["args"], case["want"]
    if "resource_requested" not in args:
        return _record(case)
    if feature := _device_feature(args):
        return unsupported(feature)
    want = want.get("job_fit_error_base", want)
    on_node = "node_name" in args
    have = _resources(args["capacity_resource"] if on_node else args["available_resource"])
    used = _resources(args.get("used_resource", {}))
    suffix = f". {args['suffix']}" if args.get("suffix") else ""
    got: list[str] = []
    details: list[str] = []
    for resource, requested in _resources(args["resource_requested"]).items():
        holds, capacity = used.get(resource, 0), have.get(resource, 0)
        if requested <= capacity - holds:
            continue
        if on_node:
            got.append(reasons.node_lacks(resource) + suffix)
            text = reasons.node_lacks_in_detail(resource, requested=requested, used=holds, capacity=capacity)
            details.append(text + suffix)
        else:
            got.append(reasons.domain_lacks(resource))
            text = reasons.domain_lacks_in_detail(
                args["domain_id"], resource, requested=requested, available=capacity
            )
            details.append(text)
    expected = [
        want.get("reasons", want.get("messages")),
        want.get("detailed_reasons", want.get("detailed_messages")),
    ]
    if [got, details] == expected:
        return passed()
    reason = explain(Mismatch("job_errors", case, expected, [got, details]))
    return deviating(reason) if reason else failed(f"{[got, details]}, expected {expected}")


def _device_feature(args: Json) -> str:
    """Which way of sharing GPUs the amounts speak of, "" if none."""
    asked = args["resource_requested"]
    if any("mig" in name for name in asked):
        return "mig"
    if args.get("capacity_gpu_memory"):
        return "gpu_memory"
    is_plain = asked.keys() <= {*_SHORT, *_others(asked)} and not milli(str(asked.get("gpus", 0))) % 1000
    return "" if is_plain else "gpu_fraction"


_SHORT = {"cpu": "cpu", "memory": "memory", "gpus": "nvidia.com/gpu", "pods": "pods", "milli_cpu": "cpu"}


def _others(amounts: Json) -> list[str]:
    """Names of resources beside those that every node has."""
    return [name for name in amounts if "/" in name and name not in _SHORT.values()]


def _resources(amounts: Json) -> dict[str, int]:
    """Amounts of a case in the units of the snapshot."""
    found = {}
    for name, value in amounts.items():
        if name == "milli_cpu":
            found["cpu"] = int(value)
        elif name == "memory":
            found["memory"] = milli(str(value)) // 1000
        elif name != "pods":
            found[_SHORT.get(name, name)] = milli(str(value))
    order = ("cpu", "memory", "nvidia.com/gpu", *_others(found))
    return {name: found[name] for name in order if name in found}
