"""Gangs that are left alone for a while because writing what was decided for them failed, and why."""

from dataclasses import dataclass, replace

import numpy as np

from quorate.kube.backoff import Backoff
from quorate.plan import Refusal
from quorate.scheduling.snapshot import Snapshot

Key = tuple[str, str]
GATE = "BackOff"


@dataclass(frozen=True)
class Hold:
    until: float
    reason: str


class Holds:
    def __init__(self, backoff: Backoff[Key] | None = None) -> None:
        self._backoff: Backoff[Key] = backoff or Backoff(base=0.5, cap=60.0)
        self._found: dict[Key, Hold] = {}

    def fail(self, gang: Key, reason: str, now: float) -> None:
        """One more failure; several in one cycle count as one."""
        known = self._found.get(gang)
        if known is None or known.until <= now:
            self._found[gang] = Hold(now + self._backoff.fail(gang), reason)

    def succeed(self, gang: Key) -> None:
        self._found.pop(gang, None)
        self._backoff.forget(gang)

    def next_end(self, now: float) -> float | None:
        """Seconds until the first hold ends."""
        return min((hold.until - now for hold in self._found.values() if hold.until > now), default=None)

    def applied(self, snapshot: Snapshot, now: float) -> tuple[Snapshot, list[Refusal]]:
        """The snapshot with the held gangs left out of the turn, and why each is held."""
        held = {key: hold for key, hold in self._found.items() if hold.until > now}
        if not held:
            return snapshot, []
        refs = snapshot.gangs.refs
        rows = [row for row, ref in enumerate(refs) if (ref.namespace, ref.name) in held]
        is_held_back = snapshot.gangs.is_held_back.copy()
        is_held_back[np.array(rows, dtype=np.int64)] = True
        refusals = [refusal(snapshot, row, held[refs[row].namespace, refs[row].name], now) for row in rows]
        return replace(snapshot, gangs=replace(snapshot.gangs, is_held_back=is_held_back)), refusals


def refusal(snapshot: Snapshot, row: int, hold: Hold, now: float) -> Refusal:
    seconds = round(hold.until - now, 1)
    return Refusal(
        gang=snapshot.gangs.refs[row],
        gate=GATE,
        message=f"Waits after a failed write: {hold.reason}",
        numbers={"seconds": seconds},
    )
