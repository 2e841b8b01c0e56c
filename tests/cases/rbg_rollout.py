"""Facts about the rollout of instances: the groups of a LeaderWorkerSet, asked what they would do next."""

from typing import Any

from quorate.workloads.lws.rollout import GroupState, Moves, Pace, Seen, decide, unfit_count
from tests.cases.deviations import Mismatch, explain
from tests.cases.outcome import Outcome, deviating, failed, passed

Json = dict[str, Any]


def run(case: Json, file: Json) -> Outcome:
    del file
    operations = {"surge_window": _window, "update_budget": _replaced, "advance_current_revision": _advanced}
    got, want = operations[case["op"]](case["input"]), case["expect"]
    if all(got[key] == value for key, value in want.items()):
        return passed(got)
    reason = explain(Mismatch(f"rbg_{case['op']}", case, want, got))
    return deviating(reason) if reason else failed(f"expected {want}, got {got}", got)


def _seen(given: Json) -> list[Seen]:
    by_ordinal = {one["ordinal"]: one for one in given["instances"]}
    return [_place(given, by_ordinal.get(at)) for at in range(max(by_ordinal, default=-1) + 1)]


def _place(given: Json, instance: Json | None) -> Seen:
    if instance is None:
        return Seen()
    is_ready = instance["ready"]
    return Seen(
        exists=True,
        is_ready=is_ready,
        is_updated=instance["revision"] == given["updateRevision"],
        is_sick=not is_ready and bool(given.get("unhealthyForAtLeast10s")),
    )


def _moves(given: Json, surge: int) -> Moves:
    pace = Pace(given["replicas"], given.get("maxUnavailable") or 0, surge, given.get("partition") or 0)
    return decide(pace, _seen(given), is_paused=bool(given.get("paused")))


def _window(given: Json) -> Json:
    found, first = _moves(given, given.get("maxSurge") or 0), given.get("partition") or 0
    is_behind = any(
        place.exists and not place.is_updated for place in _seen(given)[first : given["replicas"]]
    )
    return {
        "activeSurge": found.replicas - given["replicas"],
        "endOrdinal": found.replicas,
        "inRollout": is_behind and not given.get("paused"),
    }


def _replaced(given: Json) -> Json:
    found = _moves(given, given["endOrdinal"] - given["replicas"])
    old = [at for at, place in enumerate(_seen(given)) if place.exists and not place.is_updated]
    return {"replaced": sorted(found.remove), "kept": [at for at in old if at not in found.remove]}


def _advanced(given: Json) -> Json:
    """A rollout ends when every instance that is wanted is ready and new."""
    groups = [GroupState(place.is_ready, place.is_updated) for place in _seen(given)]
    return {"advance": given.get("inRollout", True) and not unfit_count(groups, given["replicas"])}
