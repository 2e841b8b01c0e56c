"""A working copy: every way to the same state is the same, and what happens in a fork stays there."""

from random import Random
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from quorate.scheduling.policy import new_trial
from quorate.scheduling.snapshot import Ints
from quorate.scheduling.trial import HOLDS, Trial
from tests.fakes.drawn import EXAMPLES, Event, beginnings, of


def running(events: list[Event]) -> Trial:
    """A trial of a cluster in which what fits runs; it has been asked everything."""
    cluster = of(events)
    cluster.cycle()
    trial = new_trial(cluster.encoder.snapshot(cluster.now), cluster.policy)
    state_of(trial)
    return trial


def state_of(trial: Trial) -> list[Any]:
    """All that a trial answers."""
    shapes, groups = range(len(trial.snapshot.shapes)), range(len(trial.snapshot.groups.parent))
    columns = [trial.column(shape, now=now) for shape in shapes for now in (True, False)]
    return [
        *(array.tolist() for array in (trial.idle, trial.future, trial.state, trial.node, trial.active)),
        *(array.tolist() for array in (trial.accounts.allocated, trial.accounts.protected)),
        *((column.counts.tolist(), column.scores.tolist(), column.total) for column in columns),
        *(trial.pending(group).tolist() for group in groups),
    ]


def some_held(trial: Trial, chance: Random) -> Ints:
    """Pods that run, of any gangs, in any order."""
    held = np.flatnonzero((trial.state == HOLDS) & (trial.snapshot.pods.gang >= 0)).tolist()
    return np.array(chance.sample(held, chance.randint(0, len(held))), dtype=np.int64)


@settings(max_examples=EXAMPLES, deadline=None)
@given(beginnings(), st.randoms(use_true_random=False))
def test_pods_evicted_one_by_one_leave_what_pods_evicted_together_leave(
    events: list[Event], chance: Random
) -> None:
    trial = running(events)
    gone = some_held(trial, chance)
    single, joint = trial.fork(), trial.fork()
    for pod in gone.tolist():
        single.evict(np.array([pod]))
    joint.evict(gone)
    assert state_of(single) == state_of(joint)
    assert sorted(np.concatenate([gone[:0], *single.evictions]).tolist()) == sorted(gone.tolist())


@settings(max_examples=EXAMPLES, deadline=None)
@given(beginnings(), st.randoms(use_true_random=False))
def test_what_happens_in_a_fork_stays_there(events: list[Event], chance: Random) -> None:
    trial = running(events)
    before = state_of(trial)
    fork = trial.fork()
    gone = some_held(fork, chance)
    fork.evict(gone)
    for pod in gone[::2].tolist():
        pods = np.array([pod])
        fork.revive(pods)
        fork.place(pods, fork.node[pods].astype(np.int64), now=False)
    state_of(fork)
    assert state_of(trial) == before
    assert not trial.evictions
    assert not trial.placements
    assert not trial.waiting
