"""One try for one gang in a trial: its next step, the gates of its queue, and a place for it.

`Attempt.draft` is what fits; else `stop` names the queue that said no, else nothing fits, and `is_proven`
says whether that is certain or a bound was met. The trial is only read; `commit` writes a draft into one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from quorate.scheduling import composite, gates, growth
from quorate.scheduling.agenda import Add, Draft, Found, Start
from quorate.scheduling.core import protected_part
from quorate.scheduling.fairness import Shares
from quorate.scheduling.packing import Stops
from quorate.scheduling.placement import Search
from quorate.scheduling.policy import Policy
from quorate.scheduling.snapshot import NONE, Ints
from quorate.scheduling.topology import ANYWHERE, Place
from quorate.scheduling.trial import Trial


@dataclass(frozen=True, slots=True)
class Attempt:
    """How a try ended; `goal` is the last step that was tried, None if there was none to try."""

    draft: Draft | None = None
    stop: gates.Stop | None = None
    goal: Start | Add | None = None
    is_proven: bool = True
    together: tuple[int, int] | None = None  # members of a composite that could start, and that must


@dataclass(frozen=True, slots=True)
class Solver:
    """What a try needs to know beside the trial and the gang."""

    policy: Policy
    shares: Shares

    def attempt(self, trial: Trial, number: int, *, now: bool, place: Place = ANYWHERE) -> Attempt:
        """Look for the gang's next step; of several units that could be next, the first that fits."""
        last = Attempt()
        above = int(trial.snapshot.gangs.composite[number])
        if above != NONE and not place:
            place = composite.place_of(trial, above)
        for step in growth.steps(trial, int(trial.snapshot.gangs.root[number])):
            goal = replace(step, place=(*place, *step.place)) if place else step
            has_choice = growth.has_choice(trial, goal)
            first = growth.first_choice(trial, goal)
            stop = self._gate_least(trial, number, goal) if has_choice else self._gate(trial, number, first)
            if stop is not None:
                last = Attempt(stop=stop, goal=goal)
                continue
            stops = partial(self._gate_draft, trial, number) if has_choice else None
            found, stop = self._search(trial, goal, stops, now=now)
            trial.tally.states += found.states
            if found.draft is not None:
                return Attempt(found.draft, goal=goal)
            last = Attempt(stop=stop, goal=goal, is_proven=found.is_proven)
        return last

    def _gate_least(self, trial: Trial, number: int, goal: Start | Add) -> gates.Stop | None:
        """A queue that cannot take the least of all choices refuses them all, wherever they would go."""
        queue = int(trial.snapshot.gangs.queue[number])
        return gates.check(trial.accounts, self.shares, queue, growth.least(trial, goal))

    def _gate_draft(self, trial: Trial, number: int, draft: Draft, *, is_whole: bool) -> gates.Stop | None:
        """What is within a limit only shrinks as a draft grows; its core is known at the end."""
        if is_whole:
            return self._gate(trial, number, growth.seats(trial, draft)[0])
        sums = [trial.snapshot.shared_requests[step.shape] * int(step.counts.sum()) for step in draft.steps]
        queue = int(trial.snapshot.gangs.queue[number])
        return gates.check(trial.accounts, self.shares, queue, np.sum(sums, axis=0))

    def _gate(self, trial: Trial, number: int, pods: Ints) -> gates.Stop | None:
        _, protected = protected_part(trial, number, pods)
        queue = int(trial.snapshot.gangs.queue[number])
        return gates.check(trial.accounts, self.shares, queue, requested_by(trial, pods), protected=protected)

    def _spreads(self, trial: Trial) -> Callable[[int], bool] | None:
        return partial(self.policy.spreads, trial.snapshot) if self.policy.spread else None

    def _search(
        self, trial: Trial, goal: Start | Add, stops: Stops | None, *, now: bool
    ) -> tuple[Found, gates.Stop | None]:
        """The draft, or the stop that closed a way to one."""
        policy, spreads = self.policy, self._spreads(trial)
        root = goal.leaf if isinstance(goal, Add) else goal.group
        bulk = Search(trial, root, now=now, is_exact=False, spreads=spreads, stops=stops)
        found = bulk.run([goal], policy.bulk_limit)
        if found.draft is not None or found.is_proven or bulk.open_nodes() > policy.exact_nodes:
            return found, bulk.stop
        exact = Search(trial, root, now=now, is_exact=True, spreads=spreads, stops=stops)
        again = exact.run([goal], policy.exact_limit)
        return Found(again.draft, again.is_proven, found.states + again.states), exact.stop


def commit(trial: Trial, number: int, draft: Draft, *, now: bool) -> None:
    """Write a draft into the trial."""
    pods, nodes = growth.seats(trial, draft)
    if len(pods):
        core, protected = protected_part(trial, number, pods)
        trial.place(pods, nodes, now=now, core=core, protected=protected)


def requested_by(trial: Trial, pods: Ints) -> Ints:
    """What pods ask for of the shared resources: [3]."""
    shapes = trial.snapshot.pods.shape[pods]
    requested: Ints = trial.snapshot.shared_requests.take(shapes, axis=0).sum(axis=0)
    return requested
