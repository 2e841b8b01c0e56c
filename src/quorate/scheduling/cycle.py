"""The state of one cycle: the trial that was kept so far, and why gangs were refused.

Actions are functions of a cycle: they try in forks, and keep the fork that won.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from quorate.scheduling.attempt import Attempt, Solver
from quorate.scheduling.fairness import Shares, shares
from quorate.scheduling.policy import Policy, new_trial
from quorate.scheduling.snapshot import NONE, Ints, Snapshot
from quorate.scheduling.trial import Trial


class Cause(NamedTuple):
    """Why a pod is evicted, and for which gang."""

    reason: str
    message: str
    taker: int = NONE


@dataclass(eq=False)
class Cycle:
    snapshot: Snapshot
    policy: Policy
    shares: Shares
    solver: Solver
    trial: Trial
    refused: dict[int, Attempt] = field(default_factory=dict)  # by gang: the last try that failed
    causes: dict[int, Cause] = field(default_factory=dict)  # by pod to evict
    behind: dict[int, Ints] = field(default_factory=dict)  # by gang: budgets without which it would find room


def open_cycle(snapshot: Snapshot, policy: Policy) -> Cycle:
    granted = shares(snapshot, k=policy.usage_factor)
    return Cycle(snapshot, policy, granted, Solver(policy, granted), new_trial(snapshot, policy))
