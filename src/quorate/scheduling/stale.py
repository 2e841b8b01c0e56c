"""End gangs that run below a minimum for longer than their grace: their seats serve others better."""

import numpy as np

from quorate.scheduling import gang, reasons
from quorate.scheduling.cycle import Cause, Cycle
from quorate.scheduling.snapshot import NONE, Ints, State
from quorate.scheduling.trial import Trial

REASON = "StaleGang"


def evict_stale(cycle: Cycle) -> None:
    snapshot, trial = cycle.snapshot, cycle.trial
    for number in _holders(cycle).tolist():
        root = int(snapshot.gangs.root[number])
        if not _is_overdue(cycle, number) or gang.is_satisfied(trial, root):
            continue
        rows = snapshot.gang_pods(number)
        held = np.flatnonzero((trial.state[rows] == State.ACTIVE) & ~snapshot.pods.is_guarded[rows])
        held = _allowed(trial, held + rows.start)
        minimum = int(snapshot.groups.min_member[root])
        for pod in held.tolist():
            cycle.causes[pod] = Cause(REASON, reasons.stale(snapshot.pods.refs[pod].key, minimum))
        if len(held):
            trial.spend(held)
            trial.evict(held)


def _allowed(trial: Trial, pods: Ints) -> Ints:
    """The first pods of each budget, as many as it allows; the others go once it allows more."""
    under = trial.snapshot.pods.budget[pods]
    order = np.argsort(under, kind="stable")
    _, first, counts = np.unique(under[order], return_index=True, return_counts=True)
    rank = np.empty(len(pods), dtype=np.int64)
    rank[order] = np.arange(len(pods)) - np.repeat(first, counts)
    found: Ints = pods[(under == NONE) | (rank < np.append(trial.allowed, 0)[under])]
    return found


def _holders(cycle: Cycle) -> Ints:
    """Gangs that hold nodes, as far as one look at their root tells that a minimum may not hold."""
    snapshot, trial = cycle.snapshot, cycle.trial
    holds = np.zeros(len(snapshot.gangs.refs), dtype=np.bool_)
    holds[snapshot.pods.gang[(trial.state == State.ACTIVE) & (snapshot.pods.gang != NONE)]] = True
    root = snapshot.gangs.root
    is_flat = snapshot.groups.end[root] == root + 1
    whole = is_flat & (trial.active[root] >= snapshot.groups.min_member[root])
    found: Ints = np.flatnonzero(holds & ~whole)
    return found


def _is_overdue(cycle: Cycle, number: int) -> bool:
    """A gang that nobody saw broken before is broken since now."""
    gangs, now = cycle.snapshot.gangs, cycle.snapshot.now
    own, since = float(gangs.staleness_grace[number]), float(gangs.stale_since[number])
    grace = cycle.policy.staleness_grace if np.isnan(own) else own
    return grace >= 0 and now - (now if np.isnan(since) else since) >= grace
