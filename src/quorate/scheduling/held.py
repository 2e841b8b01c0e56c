"""Seats held for members that do not exist yet, noted on the pod that announced them.

They stand in an annotation that is written with the binding of that pod: either it has its node and the seats
are known, or neither. With the pod they are gone. `encode` reads them back.
"""

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np

from quorate.api.labels import HELD_SEATS
from quorate.plan import Bind, Change, Patch
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.snapshot import NONE, Ints, State


def noted(cycle: Cycle, binds: Iterable[Change]) -> Iterator[Change]:
    """The binds, and what the cycle found or gave up of held seats: with the bind of who announced them."""
    pods = cycle.snapshot.pods
    if not pods.is_expected.any():
        yield from binds
        return
    changed = _changed(cycle)
    announcers = {pods.refs[row]: row for row in changed}
    for change in binds:
        row = announcers.get(change.pod, NONE) if isinstance(change, Bind) else NONE
        if row != NONE:
            assert isinstance(change, Bind), "only a bind names a pod"
            yield msgspec.structs.replace(change, annotations={HELD_SEATS: changed[row]})
        else:
            yield change
    for row, text in changed.items():
        if pods.state[row] == State.ACTIVE and cycle.trial.state[row] == State.ACTIVE:
            target = msgspec.structs.replace(pods.refs[row], resource_version="")
            yield Patch(target=target, body={"metadata": {"annotations": {HELD_SEATS: text}}})


def _changed(cycle: Cycle) -> dict[int, str]:
    """The seats held by each announcer for whom they are others after the cycle than before."""
    pods = cycle.snapshot.pods
    before = np.where(pods.is_expected & (pods.state == State.ACTIVE), pods.node, NONE)
    after = _after(cycle)
    rows = np.unique(pods.announcer[before != after]).tolist()
    return {row: _text(cycle, np.flatnonzero((pods.announcer == row) & (after != NONE))) for row in rows}


def _after(cycle: Cycle) -> Ints:
    """The node of each seat that is held after the cycle; one that is being freed or moves is not."""
    pods, trial = cycle.snapshot.pods, cycle.trial
    held = pods.is_expected & (trial.state == State.ACTIVE)
    for placement in trial.placements:
        if not placement.now:
            held[placement.pods] = False
    held[list(cycle.causes)] = False
    return np.where(held, trial.node, NONE)


def _text(cycle: Cycle, seated: Ints) -> str:
    refs, names = cycle.snapshot.pods.refs, cycle.snapshot.nodes.names
    found = {refs[pod].name: names[int(cycle.trial.node[pod])] for pod in seated.tolist()}
    return msgspec.json.encode(found, order="sorted").decode()
