"""Facts about coordinated scaling and coordinated rolling update, as CoordinatedPolicy asks for them."""

from collections.abc import Callable
from typing import Any

from quorate.rules.skew import SkewError, share, skew
from quorate.workloads.rbg.scaling import Gate, ScaledRole, ScalingRule, targets
from quorate.workloads.rbg.skew import RolePace, bounds, fastest_and_slowest, merged, next_targets
from tests.cases.deviations import Mismatch, explain
from tests.cases.outcome import Outcome, deviating, failed, passed, unsupported

Json = dict[str, Any]

MOST_ROUNDS = 10_000


def run(case: Json, file: Json) -> Outcome:
    operation = _operation(case, file["topic"])
    if operation is None:
        return unsupported(f"coordinated policy {case.get('op') or file['topic']}")
    got, want = operation(case["input"]), _wanted(case)
    # what is refused is refused in our own words
    compared = {key: value for key, value in want.items() if key != "error"}
    if bool(got.get("error")) == bool(want.get("error")) and all(
        _same(got.get(key), value) for key, value in compared.items()
    ):
        return passed(got)
    reason = explain(Mismatch(f"rbg_{case.get('op') or file['topic']}", case, want, got))
    return deviating(reason) if reason else failed(f"expected {want}, got {got}", got)


def _operation(case: Json, topic: str) -> Callable[[Json], Json] | None:
    by_op: dict[str, Callable[[Json], Json]] = {
        "fastest_slowest": _compared,
        "updated_bound": _bounded,
        "merge_rollout": _merged,
        "next_target": _next,
        "rolling_walk_property": _walked,
    }
    by_topic: dict[str, Callable[[Json], Json]] = {
        "coordinated_scaling": _scaled,
        "coordinated_scaling_multi": _scaled_by_rules,
        "coordinated_scaling_parse": _parsed if "text" in case["input"] else _constructed,
    }
    return by_op.get(case.get("op", "")) or by_topic.get(topic)


def _wanted(case: Json) -> Json:
    want = dict(case["expect"])
    exact = case.get("exactArithmetic", "same")
    if exact != "same":
        want["targets"] = exact.get("targets", exact)
    if want.get("property") == "sum of targets > 0":
        return {"progresses": True}
    if "property" in want:
        return {"keepsSkew": True, "terminates": want["terminates"]}
    return want if case.get("op") != "merge_rollout" else {"merged": want}


def _same(got: Any, want: Any) -> bool:
    if isinstance(want, float):
        return isinstance(got, (float, int)) and abs(got - want) < 1e-9
    return bool(got == want)


def _rule(given: Json, roles: Json) -> ScalingRule:
    return ScalingRule(tuple(roles), skew(given.get("maxSkew")), Gate(given.get("progression") or ""))


def _scaled(given: Json) -> Json:
    roles = {name: ScaledRole(**role) for name, role in given["roles"].items()}
    try:
        return {"targets": targets([_rule(given, given.get("among") or given["roles"])], roles)}
    except ValueError as error:
        return {"error": str(error)}


def _scaled_by_rules(given: Json) -> Json:
    counts = ("desired", "current", "ready")
    roles = {
        name: ScaledRole(
            **{key: given[key].get(name, 0) for key in counts},
            scheduled=(given.get("scheduledPods") or {}).get(name, 0),
        )
        for name in given["desired"]
    }
    try:
        return {"targets": targets([_rule(rule, rule["roles"]) for rule in given["rules"]], roles)}
    except ValueError as error:
        return {"error": str(error)}


def _parsed(given: Json) -> Json:
    try:
        return {"value": float(share(given["text"]))}
    except SkewError:
        return {"error": True}


def _constructed(given: Json) -> Json:
    rule = given["rule"]
    if rule is None or rule.get("scaling", rule) is None:
        return {"ok": False}
    try:
        skew(rule.get("maxSkew"))
    except SkewError:
        return {"ok": False}
    return {"ok": True}


def _compared(given: Json) -> Json:
    fastest, slowest = fastest_and_slowest(given["desired"], given["updated"]) or ("", "")
    return {"fastest": fastest, "slowest": slowest}


def _bounded(given: Json) -> Json:
    lower, upper = bounds(
        skew(given["maxSkew"]), given["referenceUpdated"], given["referenceDesired"], given["desired"]
    )
    return {"lower": lower, "upper": upper}


def _merged(given: Json) -> Json:
    first, second = (
        {
            name: RolePace(pace.get("maxUnavailable"), pace.get("partition"))
            for name, pace in (given[side] or {}).items()
        }
        for side in ("a", "b")
    )
    found = merged(first, second)
    return {
        "merged": {
            name: {"maxUnavailable": pace.max_unavailable, "partition": pace.partition}
            for name, pace in found.items()
        }
    }


def _next(given: Json) -> Json:
    found = next_targets(skew(given["maxSkew"]), given["desired"], given["updated"])
    return {"targets": found, "progresses": sum(found.values()) > sum(given["updated"].values())}


def _walked(given: Json) -> Json:
    """Follow the targets to the end; what is measured in ten thousandths starts when the first step is done."""
    desired, updated = given["desired"], dict(given["updatedStart"])
    allowed = -(-10_000 // min(desired.values())) + int(share(given["maxSkew"]) * 10_000)
    keeps, rounds = True, 0
    while updated != desired and rounds < MOST_ROUNDS:
        updated, rounds = next_targets(skew(given["maxSkew"]), desired, updated), rounds + 1
        shares = [10_000 * updated[name] / desired[name] for name in desired]
        keeps &= max(shares) - min(shares) <= allowed
    return {"keepsSkew": keeps, "terminates": updated == desired, "rounds": rounds}
