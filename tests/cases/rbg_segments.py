"""Facts about segment placement: targets of one step, whole roll-outs, conditions and conflicts."""

from typing import Any

import msgspec

from quorate.admission.rbg import review
from quorate.api.meta import Condition
from quorate.api.rbg import RoleBasedGroup
from quorate.workloads.coordinated import coordinations
from quorate.workloads.readiness import MINIMUM_SEGMENTS, READY, conditions, count
from quorate.workloads.segmentgangs import teams
from quorate.workloads.segments import Coordination, RoleState, place
from tests.cases.deviations import Mismatch, explain
from tests.cases.outcome import Outcome, deviating, failed, passed

Json = dict[str, Any]

MOST_STEPS = 10_000
WHOLE = [
    Condition(type=READY, status="True", reason="AllReplicasReady"),
    Condition(type=MINIMUM_SEGMENTS, status="True", reason="AllSegmentsReady"),
]


def run(case: Json, file: Json) -> Outcome:
    operations = {
        "segment_placement": _placed,
        "segment_placement_trajectory": _rolled_out,
        "segment_conditions": _conditioned,
    }
    got, want = operations[file["topic"]](case["input"]), case["expect"]
    if _agrees(got, want):
        return passed(got)
    reason = explain(Mismatch(f"rbg_{file['topic']}", case, want, got))
    return deviating(reason) if reason else failed(f"expected {want}, got {got}", got)


def _agrees(got: Json, want: Json) -> bool:
    if "error" not in want:
        return all(_covers(got.get(key), value) for key, value in want.items())
    message = got.get("message", "")
    said = [want.get("message", ""), want.get("errorContainsSeed", "")]
    said += [str(want[key]) for key in ("role", "later", "earlier") if key in want]
    conflict = want["error"].removesuffix("-conflict").replace("-", " ")
    said += [conflict] if want["error"].endswith("-conflict") else []
    return "error" in got and all(text in message for text in said)


def _covers(got: Any, want: Any) -> bool:
    if isinstance(want, dict):
        return isinstance(got, dict) and all(_covers(got.get(key), value) for key, value in want.items())
    return bool(got == want)


def _group(given: Json) -> RoleBasedGroup:
    template = {"spec": {"containers": [{"name": "c"}]}}
    roles = [{"name": name, "replicas": n, "template": template} for name, n in given["desired"].items()]
    requirements = [
        {"strategy": {"segmentPlacement": placement}} for placement in given.get("coordinations") or ()
    ]
    wire = {"metadata": {"name": "g"}, "spec": {"roles": roles, "coordinationRequirements": requirements}}
    return msgspec.convert(wire, RoleBasedGroup)


def _coordinations(given: Json) -> list[Coordination]:
    return coordinations(_group(given).spec.coordination_requirements or [], given["desired"])


def _states(given: Json) -> dict[str, RoleState]:
    seen = {name: status or {} for name, status in (given.get("status") or {}).items()}
    return {
        name: RoleState(
            desired, seen.get(name, {}).get("replicas") or 0, seen.get(name, {}).get("ready") or 0
        )
        for name, desired in given["desired"].items()
    }


def _placed(given: Json) -> Json:
    faults = review(_group(given)).errors
    if faults:
        return {"error": faults[0].field, "message": faults[0].message}
    return {"targets": dict(place(_coordinations(given), _states(given)).targets)}


def _rolled_out(given: Json) -> Json:
    """Every created instance is ready in the next step."""
    coordinated, states = _coordinations(given), _states(given)
    shrinks, steps = False, 0
    while steps < MOST_STEPS:
        targets = place(coordinated, states).targets
        following = {
            name: RoleState(state.desired, target, target)
            for name, state in states.items()
            for target in [targets.get(name, state.current)]
        }
        if following == states:
            break
        shrinks |= any(following[name].current < states[name].current for name in states)
        states, steps = following, steps + 1
    final = {name: state.current for name, state in states.items()}
    return {"final": final, "steps": steps, "neverShrinks": not shrinks}


def _conditioned(given: Json) -> Json:
    """Whatever else a case says of its group, it says that all of it was ready before."""
    known = {"desired", "ready", "segmentSize", "podsPerReplica", "current", "replicas", "status"}
    previous = WHOLE if any(value for key, value in given.items() if key not in known) else None
    ready = given["ready"]
    states = {
        name: RoleState(desired, ready.get(name) or 0, ready.get(name) or 0)
        for name, desired in given["desired"].items()
    }
    pods = dict.fromkeys(states, 1) | (given.get("podsPerReplica") or {})
    coordinated = _coordinations({**given, "coordinations": [{"segmentSize": given["segmentSize"]}]})
    tally = count(states, pods, teams(coordinated))
    return {
        "conditions": {
            found.type: [found.status, found.reason]
            for found in conditions(states, pods, coordinated, previous)
        },
        "segmentsReady": tally.segments_ready,
        "segmentsTotal": tally.segments,
        "podsReady": tally.pods_ready,
        "podsTotal": tally.pods,
    }
