"""Pods that a disruption budget guards: their eviction was refused, so they are left alone for a while.

The cycle looks for other victims meanwhile, and a gang that finds none says whose budget it waits for.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from quorate.kube.backoff import Backoff
from quorate.plan import Evict, Refusal
from quorate.scheduling.snapshot import Snapshot


@dataclass(frozen=True)
class Guard:
    until: float
    taker: tuple[str, str] | None  # the gang that the pod was to make room for
    reason: str


class Guards:
    def __init__(self) -> None:
        self._backoff: Backoff[str] = Backoff(base=2.0, cap=30.0)
        self._found: dict[str, Guard] = {}  # by the UID of the pod

    def refuse(self, change: Evict, message: str, now: float) -> None:
        """A budget said no."""
        taker = (change.taker.namespace, change.taker.name) if change.taker else None
        reason = f"{change.pod.namespace}/{change.pod.name} could make room, but: {message}"
        until = now + self._backoff.fail(change.pod.uid)
        self._found[change.pod.uid] = Guard(until, taker, reason)

    def next_end(self, now: float) -> float | None:
        """Seconds until the first pod is tried again."""
        return min((one.until - now for one in self._found.values() if one.until > now), default=None)

    def applied(self, snapshot: Snapshot, now: float) -> Snapshot:
        """The snapshot in which nobody may take the guarded pods."""
        if not self._found:
            return snapshot
        uids = [ref.uid for ref in snapshot.pods.refs]
        self._forget(set(uids))
        is_guarded = np.array(
            [uid in self._found and self._found[uid].until > now for uid in uids], dtype=np.bool_
        )
        return replace(snapshot, pods=replace(snapshot.pods, is_guarded=is_guarded))

    def explained(self, refusals: Iterable[Refusal]) -> Iterator[Refusal]:
        """The refusals; of gangs that wait for a budget with what it said."""
        said = {one.taker: one.reason for one in self._found.values() if one.taker}
        for one in refusals:
            reason = said.get((one.gang.namespace, one.gang.name))
            yield msgspec.structs.replace(one, message=f"{one.message}. {reason}") if reason else one

    def _forget(self, live: set[str]) -> None:
        """Pods that are gone need no guard."""
        for uid in self._found.keys() - live:
            del self._found[uid]
            self._backoff.forget(uid)
