"""What is wrong about a Topology."""

from collections import Counter
from collections.abc import Iterator, Sequence

from quorate.admission.surroundings import NOTHING_KNOWN, Surroundings
from quorate.api.labels import HOSTNAME
from quorate.api.topology import Topology, TopologyLevel
from quorate.rules.validity import Cause, Fault, Findings

MAX_LEVELS = 16


def review(new: Topology, old: Topology | None = None, around: Surroundings = NOTHING_KNOWN) -> Findings:
    del around  # a topology stands alone
    levels = new.spec.levels or []
    errors = [*_count_faults(levels), *_level_faults(levels)]
    if old is not None and (old.spec.levels or []) != levels:
        text = "levels are immutable: make a new Topology and let workloads name it"
        errors.append(Fault("spec.levels", text, Cause.LIVE))
    return Findings(tuple(errors))


def _count_faults(levels: Sequence[TopologyLevel]) -> Iterator[Fault]:
    if not 1 <= len(levels) <= MAX_LEVELS:
        text = f"{len(levels)} levels are given: write 1 to {MAX_LEVELS}, the widest first"
        yield Fault("spec.levels", text, Cause.VALUE)


def _level_faults(levels: Sequence[TopologyLevel]) -> Iterator[Fault]:
    names = Counter(level.node_label for level in levels)
    aliases = Counter(level.alias for level in levels if level.alias)
    for index, level in enumerate(levels):
        field = f"spec.levels[{index}]"
        if not level.node_label:
            yield Fault(
                f"{field}.nodeLabel", "a level needs the label of nodes that it stands for", Cause.VALUE
            )
        elif names[level.node_label] > 1:
            yield Fault(f"{field}.nodeLabel", f'"{level.node_label}" stands at two levels', Cause.STRUCTURE)
        if aliases[level.alias] > 1:
            yield Fault(f"{field}.alias", f'"{level.alias}" is the alias of two levels', Cause.STRUCTURE)
        if level.alias and level.alias in names:
            yield Fault(f"{field}.alias", f'"{level.alias}" is the node label of a level', Cause.STRUCTURE)
        if level.node_label == HOSTNAME and index != len(levels) - 1:
            yield Fault(f"{field}.nodeLabel", f"{HOSTNAME} must be the last level", Cause.STRUCTURE)
