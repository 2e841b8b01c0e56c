"""KAI's unit tables on queues and fairness, run on the functions that decide here."""

import math
from typing import Any

import numpy as np

from quorate.scheduling.division import Siblings, deserved, divide_over_quota
from tests.cases.outcome import Outcome, failed, passed, unsupported

Json = dict[str, Any]
Case = Json


def run(case: Case, file: Json) -> Outcome:
    if "steps" in case:
        return _division(case)
    return unsupported(f"KAI unit table {file.get('about', '')!r}")


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
