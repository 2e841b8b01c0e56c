"""KAI's unit tables on queues and fairness, run on the functions that decide here."""

import math
from typing import Any

import numpy as np

from quorate.scheduling import gates, minruntime, order, reclaimable
from quorate.scheduling.accounts import Accounts
from quorate.scheduling.division import Siblings, deserved, divide_over_quota
from quorate.scheduling.fairness import Shares
from quorate.scheduling.snapshot import NONE
from tests.cases.outcome import Outcome, failed, passed, unsupported

Json = dict[str, Any]
Case = Json


def run(case: Case, file: Json) -> Outcome:
    tables = {
        "steps": _division,
        "requested_quota": _one_queue_gate,
        "requested_share": _gate,
        "fair_share": _allocatable,
        "reclaimer_info": _may_start,
        "reclaimee_queue": _may_take,
        "lqueue": _queue_order,
        "expected_job_order": _turns,
        "fields": _pushed,
    }
    if "pod_sets" in case.get("job", {}):
        return _job_gate(case)
    if "expect_s" in case:
        return _min_runtime(case, file)
    table = next((table for field, table in tables.items() if field in case), None)
    return table(case) if table else unsupported(f"KAI unit table {file.get('about', '')!r}")


def _one_queue_gate(case: Case) -> Outcome:
    is_limit = "max_allowed" in case
    bound = case["max_allowed"] if is_limit else case["deserved"]
    held = case["allocated"] if is_limit else case["allocated_non_preemptible"]
    # Thousandths, so that the fractions of the table stay whole numbers.
    want = case.get("is_over_max_allowed" if is_limit else "expected_result", False)
    amounts = {"max_allowed" if is_limit else "deserved": bound, "allocated": held}
    if not is_limit:
        amounts["allocated_not_preemptible"] = held
    shares, accounts = _books([_as_share(amounts)], parents=[NONE], scale=1000)
    requested = _amounts(case["requested_quota"], 1000)
    stop = gates.check(accounts, shares, 0, requested, protected=None if is_limit else requested)
    if (stop is not None) != want:
        return failed(f"gate says {stop}, expected {'a stop' if want else 'none'}")
    name = case.get("resource_name" if is_limit else "resource")
    if stop is not None and RESOURCES[stop.column] != name:
        return failed(f"gate stops at {RESOURCES[stop.column]}, expected {name}")
    return passed()


def _gate(case: Case) -> Outcome:
    queues = case["queues"]
    names = list(queues)
    parents = [names.index(q["parent_queue"]) if q["parent_queue"] else NONE for q in queues.values()]
    shares, accounts = _books([q["queue_resource_share"] for q in queues.values()], parents=parents)
    requested = _amounts(case["requested_share"])
    protected = None if case["job"].get("preemptibility") == "preemptible" else requested
    if any("deserved" not in q["queue_resource_share"]["gpu"] for q in queues.values()):
        protected = None
    stop = gates.check(accounts, shares, names.index(case["job"]["queue"]), requested, protected=protected)
    return passed() if (stop is None) == case["expected_result"] else failed(f"gate says {stop}")


def _job_gate(case: Case) -> Outcome:
    """A gate that is asked with the pods of a whole job."""
    pods = [
        pod
        for leaf in case["job"]["pod_sets"].values()
        for pod in list(leaf["pods"].values())[: leaf["min"]]
        if pod["status"] == "Pending"
    ]
    if any(pod.get("gpu_requirement", {}).get("gpu_memory") for pod in pods):
        return unsupported("gpu_memory")
    vectors = [{**pod.get("res_req_vector", {}), **pod.get("gpu_requirement", {})} for pod in pods]
    asked = {
        "cpu_milli": sum(one.get("milli_cpu", 0) for one in vectors),
        "memory_bytes": sum(one.get("memory", 0) for one in vectors),
        "gpu": sum(one.get("gpus", 0) for one in vectors),
    }
    return _gate({**case, "requested_share": asked})


def _allocatable(case: Case) -> Outcome:
    shares, _ = _books([_as_share(case)], parents=[NONE], total=case.get("total_capacity"))
    want = case["expected"]
    if isinstance(want, dict):
        stated = [-1 if math.isinf(value) else value for value in shares.allocatable[0].tolist()]
        got: Any = dict(zip(RESOURCES, stated, strict=True))
    else:
        ranking = order.Ranking(shares, np.zeros(1), np.zeros(1))
        got = ranking.dominant(0, _amounts(case["allocated"]).tolist())
    return passed() if got == want else failed(f"{got}, expected {want}")


def _may_start(case: Case) -> Outcome:
    info = case["reclaimer_info"]
    shares, accounts = _books([case["queue"]["queue_resource_share"]], parents=[NONE])
    asked = info["required_resources"]
    requested = np.array([asked["milli_cpu"], asked["memory"], asked["gpus"]])
    got = reclaimable.may_start(accounts, shares, 0, requested, protected=not info.get("is_preemptable"))
    return passed() if got == case.get("can_reclaim", False) else failed(f"may start: {got}")


def _may_take(case: Case) -> Outcome:
    """Without a request only what the other queue holds is asked about: no quota covers what the taker wants."""
    taker = case["reclaimer_queue"].get("queue_resource_share", {})
    shares, accounts = _books([taker, case["reclaimee_queue"]["queue_resource_share"]], parents=[NONE, NONE])
    asked = case.get("reclaimer_resources") or {}
    requested = np.array([asked.get(name, math.inf) for name in ("milli_cpu", "memory", "gpus")])
    held = accounts.allocated[1].astype(np.float64)
    if "remaining_resource_share" in case:
        held = _amounts(case["remaining_resource_share"]).astype(np.float64)
    got = reclaimable.may_take(shares, 0, (accounts.allocated[0] + requested).astype(np.float64), 1, held)
    return passed() if got == case.get("expected", False) else failed(f"may take: {got}")


def _queue_order(case: Case) -> Outcome:
    if "devices" in case["l_job_info"]:
        return unsupported("gpu_memory")
    rows = [case["lqueue"], case["rqueue"]]
    shares, accounts = _books([row["queue_resource_share"] for row in rows], parents=[NONE, NONE])
    ranking = order.Ranking(shares, np.array([row.get("priority", 0) for row in rows]), np.zeros(2))
    held = accounts.allocated.tolist()
    left, right = (ranking.key(at, held[at], (0, 0, 0)) for at in (0, 1))
    got = -1 if left < right else 1
    return passed() if got == case["expected_result"] else failed(f"order {got}: {left} against {right}")


def _turns(case: Case) -> Outcome:
    jobs = [*case.get("jobs", {}).values(), *(case.get("push_jobs") or ())]
    return _drawn(case["queues"], jobs, case["expected_job_order"])


def _pushed(case: Case) -> Outcome:
    """A gang that is added to those that wait, or drawn and added again."""
    waiting = [*case["fields"]["inserted_job"].values()]
    if "job" in case.get("args", {}):
        waiting.append(case["args"]["job"])
    return _drawn(
        case["fields"]["queues"], waiting, [job["name"] for job in case["expected"]["expected_jobs_list"]]
    )


def _drawn(queues: Json, jobs: list[Json], want: list[str]) -> Outcome:
    """Queues whose parent is not among them are top queues."""
    names = sorted(queues)
    above = [queues[name].get("parent_queue") for name in names]
    parents = [names.index(name) if name in names else NONE for name in above]
    shares, accounts = _books([{} for _ in names], parents=parents)
    turns = order.Turns(order.Ranking(shares, np.zeros(len(names)), np.zeros(len(names))), accounts)
    jobs = sorted(jobs, key=lambda job: str(job["name"]))
    for at, job in enumerate(jobs):
        key = (-job["priority"], order.Standing.BELOW, 0.0, at)
        turns.push(names.index(job["queue"]), order.Waiting(key, at, (0, 0, 0)))
    drawn = []
    while (waiting := turns.pop()) is not None:
        drawn.append(jobs[waiting.gang]["name"])
    return passed() if drawn == want else failed(f"{drawn}, expected {want}")


def _min_runtime(case: Case, file: Json) -> Outcome:
    """A queue that is not there says nothing and has nobody above it."""
    queues = file["queues"] | case.get("queues", {})
    victim_name, taker_name = case.get("victim_queue") or "nobody", case.get("preemptor_queue") or "nobody"
    queues = {victim_name: {}, taker_name: {}} | queues
    names = list(queues)
    parents = [names.index(q["parent"]) if q.get("parent") in names else NONE for q in queues.values()]
    field = f"{case['op']}_min_runtime_s"
    given = [q.get(field) for q in queues.values()]
    seconds = np.array([math.nan if value is None else value for value in given], dtype=float)
    default = float(file["defaults"][f"{case['op']}_s"])
    victim = names.index(victim_name)
    if case["op"] == "preempt":
        got = minruntime.against_preemption(_lineage(parents), seconds, victim, default=default)
    else:
        taker = names.index(taker_name)
        method = minruntime.Method(case["method"])
        got = minruntime.against_reclaim(
            _lineage(parents), seconds, taker, victim, method=method, default=default
        )
    return passed() if got == case["expect_s"] else failed(f"{got} s, expected {case['expect_s']}")


RESOURCES = ("cpu_milli", "memory_bytes", "gpu")


def _as_share(case: Json) -> Json:
    """A case that lists fields by resource, turned into one that lists resources with their fields."""
    fields = ("deserved", "fair_share", "max_allowed", "allocated", "allocated_not_preemptible")
    return {
        short: {name: case[name][long] for name in fields if long in case.get(name, {})}
        for short, long in zip(("cpu", "memory", "gpu"), RESOURCES, strict=True)
    }


def _books(
    rows: list[Json], *, parents: list[int], total: Json | None = None, scale: int = 1
) -> tuple[Shares, Accounts]:
    def column(field: str, default: float) -> np.ndarray[Any, np.dtype[np.float64]]:
        values = [
            [row.get(resource, {}).get(field, default) for resource in ("cpu", "memory", "gpu")]
            for row in rows
        ]
        amounts = np.array(values, dtype=float)
        return np.where(amounts == -1, math.inf, amounts * scale)

    shares = Shares(
        total=_amounts(total or {}).astype(np.float64),
        quota=column("deserved", 0),
        limit=column("max_allowed", -1),
        fair=column("fair_share", 0),
        requested=column("request", 0),
    )
    held = column("allocated", 0).astype(np.int64)
    protected = column("allocated_not_preemptible", 0).astype(np.int64)
    return shares, Accounts(_lineage(parents), held, protected)


def _lineage(parents: list[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    rows = []
    for queue in range(len(parents)):
        row, at = [], queue
        while at != NONE:
            row.append(at)
            at = parents[at]
        rows.append(row + [NONE] * (len(parents) - len(row)))
    return np.array(rows)


def _amounts(by_name: Json, scale: int = 1) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([round(by_name.get(name, 0) * scale) for name in RESOURCES])


def _division(case: Case) -> Outcome:
    for step in case["steps"]:
        names = sorted(step["queues"], key=lambda name: (step["queues"][name]["created_seq"], name))
        resources = [step["resource"]] if step.get("resource") else sorted(step["total"])
        remaining = math.nan
        for resource in resources:
            total = step["total"] if step.get("resource") else step["total"][resource]
            claims = [step["queues"][name] for name in names]
            queues = _siblings(claims, resource)
            if step["op"] == "divide_over_quota":
                start = np.array([claim[resource]["fair_share_before"] for claim in claims], dtype=float)
                amount = float(total)
            else:
                start = deserved(total, queues)
                amount = float(total - start.sum())
            shares = divide_over_quota(amount, start, queues, k=step["k"])
            remaining = max(0.0, amount - float((shares - start).sum()))
            for name, share in zip(names, shares, strict=True):
                want = step["expect"]["fair_share"].get(name, {}).get(resource)
                if want is not None and not math.isclose(share, want, abs_tol=1e-6):
                    return failed(f"queue {name}: {resource} share {share}, expected {want}")
        want = step["expect"].get("remaining")
        if want is not None and not math.isclose(remaining, want, abs_tol=1e-6):
            return failed(f"remaining {remaining}, expected {want}")
    return passed()


def _siblings(claims: list[Json], resource: str) -> Siblings:
    def column(field: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        values = [claim[resource].get(field, 0) for claim in claims]
        return np.array([math.inf if value == -1 else value for value in values], dtype=float)

    return Siblings(
        quota=column("quota"),
        limit=column("limit"),
        weight=column("over_quota_weight"),
        requested=column("request"),
        usage=column("usage"),
        priority=np.array([claim["priority"] for claim in claims], dtype=float),
    )
