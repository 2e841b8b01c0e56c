"""End gangs that run below a minimum for longer than their grace: their seats serve others better."""

import numpy as np

from quorate.scheduling import gang, reasons
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.snapshot import State

REASON = "StaleGang"


def evict_stale(cycle: Cycle) -> None:
    snapshot, trial = cycle.snapshot, cycle.trial
    for number in np.flatnonzero(~np.isnan(snapshot.gangs.stale_since)).tolist():
        if not _is_overdue(cycle, number) or gang.is_satisfied(trial, int(snapshot.gangs.root[number])):
            continue
        rows = snapshot.gang_pods(number)
        held = np.flatnonzero(trial.state[rows] == State.ACTIVE) + rows.start
        if not len(held):
            continue
        minimum = int(snapshot.groups.min_member[snapshot.gangs.root[number]])
        trial.evict(held)
        for pod in held.tolist():
            ref = snapshot.pods.refs[pod]
            cycle.causes[pod] = REASON, reasons.stale(f"{ref.namespace}/{ref.name}", minimum)


def _is_overdue(cycle: Cycle, number: int) -> bool:
    gangs = cycle.snapshot.gangs
    own = float(gangs.staleness_grace[number])
    grace = cycle.policy.staleness_grace if np.isnan(own) else own
    return grace >= 0 and cycle.snapshot.now - float(gangs.stale_since[number]) > grace
