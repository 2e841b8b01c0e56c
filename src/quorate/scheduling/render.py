"""A finished cycle as a `Plan`: evictions, then binds, then seats held for pods that wait, then refusals."""

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from quorate.plan import Bind, Change, Evict, Plan, Ref, Refusal, SetStatus
from quorate.scheduling import claims, held, reasons
from quorate.scheduling.agenda import Add
from quorate.scheduling.attempt import Attempt
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.marks import marks
from quorate.scheduling.shortage import SHORT, UNKNOWN_LEVEL, refusal_of
from quorate.scheduling.snapshot import NONE, State
from quorate.scheduling.takers import delay_ends
from quorate.scheduling.unready import unready


def plan_of(cycle: Cycle) -> Plan:
    return Plan(
        changes=(
            *_evictions(cycle),
            *held.noted(cycle, claims.told(cycle, _binds(cycle))),
            *_nominations(cycle),
            *_given_up(cycle),
            *marks(cycle),
        ),
        refusals=(*_refusals(cycle), *unready(cycle)),
        revision=cycle.snapshot.revision,
    )


def _evictions(cycle: Cycle) -> Iterator[Change]:
    """A pod that was moved and then taken anyway is evicted once."""
    gone = [pod for pods in cycle.trial.evictions for pod in pods.tolist()]
    for pod in dict.fromkeys(gone):
        if not cycle.snapshot.pods.is_expected[pod]:
            cause = cycle.causes[pod]
            taker = None if cause.taker == NONE else cycle.snapshot.gangs.refs[cause.taker]
            yield Evict(cycle.snapshot.pods.refs[pod], cause.reason, cause.message, taker=taker)


def _binds(cycle: Cycle) -> Iterator[Bind]:
    refs, names = cycle.snapshot.pods.refs, cycle.snapshot.nodes.names
    for pod, node in _seats(cycle, now=True):
        yield Bind(pod=refs[pod], node=names[node])


def _nominations(cycle: Cycle) -> Iterator[SetStatus]:
    pods, names = cycle.snapshot.pods, cycle.snapshot.nodes.names
    for pod, node in _seats(cycle, now=False):
        if pods.nominated[pod] != node and pods.state[pod] == State.PENDING:
            yield SetStatus(target=pods.refs[pod], status={"nominatedNodeName": names[node]})


def _seats(cycle: Cycle, *, now: bool) -> Iterator[tuple[int, int]]:
    """Pods that exist and were placed, with their nodes."""
    is_expected = cycle.snapshot.pods.is_expected
    for placement in cycle.trial.placements:
        if placement.now is not now:
            continue
        for pod, node in zip(placement.pods.tolist(), placement.nodes.tolist(), strict=True):
            if is_expected[pod]:
                continue  # its seat is noted on a pod that exists
            if pod in cycle.causes:
                continue  # it moves: the pod that its controller creates anew is placed then
            yield pod, node


def _given_up(cycle: Cycle) -> Iterator[Change]:
    """Seats that a former cycle held for pods that found no place now."""
    pods = cycle.snapshot.pods
    for pod in np.flatnonzero((pods.nominated != NONE) & (cycle.trial.state == State.PENDING)).tolist():
        yield SetStatus(target=pods.refs[pod], status={"nominatedNodeName": None})


def _refusals(cycle: Cycle) -> Iterator[Refusal]:
    """Gangs that failed with the same try are refused in the same words, each by its own name."""
    said: dict[int, Refusal] = {}
    for number, attempt in sorted(cycle.refused.items()):
        if _is_over(cycle, attempt):
            continue
        known = said.get(id(attempt))
        if known is None or attempt.together is not None or known.gate == UNKNOWN_LEVEL:
            known = said[id(attempt)] = refusal_of(cycle, number, attempt)
        gang = cycle.snapshot.gangs.refs[number]
        message = known.message.replace(_named(known.gang), _named(gang))
        yield _guarded(cycle, number, _delayed(cycle, number, replace(known, gang=gang, message=message)))


def _is_over(cycle: Cycle, attempt: Attempt) -> bool:
    """Whether everybody found a seat after all: beside a gang that was moved, its members that waited are placed."""
    goal = attempt.goal
    if goal is None:
        return False
    return not len(cycle.trial.pending(goal.leaf if isinstance(goal, Add) else goal.group))


def _guarded(cycle: Cycle, number: int, refusal: Refusal) -> Refusal:
    """A gang that others could make room for, were it not for their budgets, says which."""
    names = sorted({cycle.snapshot.budgets.names[row] for row in cycle.behind.get(number, ())})
    if not names:
        return refusal
    message = f"{refusal.message}. {reasons.guarded(names)}"
    return replace(refusal, message=message, numbers={**refusal.numbers, "budgets": names})


def _named(gang: Ref) -> str:
    return f"<{gang.key}>"


def _delayed(cycle: Cycle, number: int, refusal: Refusal) -> Refusal:
    """A gang that found no room and may not take any yet says until when."""
    ends = delay_ends(cycle.snapshot, number)
    if refusal.gate != SHORT or cycle.snapshot.now >= ends:
        return refusal
    message = reasons.delayed(refusal.message, ends)
    return replace(refusal, gate="PreemptionDelayNotElapsed", message=message)
