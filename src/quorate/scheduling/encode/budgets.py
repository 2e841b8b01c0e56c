"""Disruption budgets: under which each pod is, and how many evictions each allows now, as the Eviction API reads them.

1. A pod that has not started yet is under none. One that is not ready goes at no cost while those that are suffice,
   or if its budget lets such pods go.
2. Of two budgets at once nobody may be evicted: the API refuses it.
3. A budget whose status is older than its spec allows nothing.
"""

from collections.abc import Mapping
from itertools import chain

import msgspec
import numpy as np

from quorate.api.core import Pod
from quorate.api.meta import Object
from quorate.api.policy import PodDisruptionBudget
from quorate.api.selectors import Selector, compiled, matches
from quorate.rules.conditions import is_true
from quorate.scheduling.snapshot import NONE, Budgets

Key = tuple[str, str]  # namespace, name
Pair = tuple[str, str, str]  # namespace, label, value

ENDLESS = 2**31
LITTER = 1000  # numbers
STARTED = "Running"


class Reading(msgspec.Struct, frozen=True):
    """What of a budget the scheduler reads."""

    selector: Selector | None
    guards_unready: bool  # pods that are not ready are under it too
    is_met: bool  # then those may go at no cost
    allowed: int

    @property
    def covers(self) -> tuple[Selector | None, bool]:
        """Decides who is under it."""
        return self.selector, self.guards_unready

    def lets_go(self, *, ready: bool) -> int:
        """How many pods that are ready, or are not, may be evicted now."""
        return ENDLESS if self.is_met and not ready else self.allowed


def reading(budget: PodDisruptionBudget) -> Reading:
    spec, status = budget.spec, budget.status
    is_current = status.observed_generation >= (budget.metadata.generation or 0)
    return Reading(
        selector=compiled(spec.selector),
        guards_unready=spec.unhealthy_pod_eviction_policy != "AlwaysAllow",
        is_met=status.current_healthy >= status.desired_healthy > 0,
        allowed=max(status.disruptions_allowed, 0) if is_current else 0,
    )


def is_same(old: PodDisruptionBudget, new: PodDisruptionBudget) -> bool:
    """Whether it guards whom it guarded, as much."""
    return reading(old) == reading(new)


class BudgetTable:
    """Numbers the budgets that pods are under; a number stands for one, or for several at once."""

    def __init__(self) -> None:
        self._known: dict[Key, Reading] = {}
        self._changed: set[str] = set()
        self._by_pair: dict[Pair, set[Key]] = {}  # by one label that the pods of a budget have
        self._others: dict[str, set[Key]] = {}  # by namespace, where no one label tells
        self._numbers: dict[tuple[bool, tuple[Key, ...]], int] = {}  # by readiness of the pod

    def update(self, old: Object | None, new: Object | None) -> None:
        """Take over what changed."""
        known = new or old
        assert known is not None, "a change has an object before or after"
        key = (known.metadata.namespace, known.metadata.name)
        before = self._known.pop(key, None)
        if before is not None:
            self._shelf(key, before).discard(key)
        after = reading(new) if isinstance(new, PodDisruptionBudget) else None
        if after is not None:
            self._known[key] = after
            self._shelf(key, after).add(key)
        if before is None or after is None or before.covers != after.covers:
            self._changed.add(key[0])

    def changed(self) -> set[str]:
        """The namespaces where pods may be under other budgets than when this was asked last."""
        found, self._changed = self._changed, set()
        return found

    def of(self, pod: Pod) -> int:
        """The number of what guards a pod from eviction; NONE if nothing does."""
        if not self._known or pod.status.phase != STARTED:
            return NONE
        labels, namespace = pod.metadata.labels or {}, pod.metadata.namespace
        shelves = (self._by_pair.get((namespace, *pair), ()) for pair in labels.items())
        near = [key for key in chain(self._others.get(namespace, ()), *shelves) if self._selects(key, labels)]
        if not near:
            return NONE
        is_ready = is_true(pod.status.conditions, "Ready")
        found = tuple(sorted(key for key in near if is_ready or self._known[key].guards_unready))
        return self._numbers.setdefault((is_ready, found), len(self._numbers)) if found else NONE

    def _selects(self, key: Key, labels: Mapping[str, str]) -> bool:
        selector = self._known[key].selector
        return selector is not None and matches(selector, labels)

    @property
    def is_littered(self) -> bool:
        """Whether most numbers are of budgets that are gone."""
        return len(self._numbers) > LITTER + 2 * len(self._known)

    def renumber(self) -> None:
        self._numbers.clear()

    def freeze(self) -> Budgets:
        allowed = [
            self._known[keys[0]].lets_go(ready=ready) if len(keys) == 1 and keys[0] in self._known else 0
            for ready, keys in self._numbers
        ]
        names = tuple(" and ".join("/".join(key) for key in keys) for _, keys in self._numbers)
        return Budgets(names=names, allowed=np.array(allowed, dtype=np.int64))

    def _shelf(self, key: Key, one: Reading) -> set[Key]:
        for test in one.selector or ():
            if test.operator == "In" and len(test.values) == 1:
                return self._by_pair.setdefault((key[0], test.key, test.values[0]), set())
        return self._others.setdefault(key[0], set())
