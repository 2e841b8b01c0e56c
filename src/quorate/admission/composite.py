"""What is wrong or doubtful about a CompositePodGroup."""

from collections.abc import Iterator, Mapping

from quorate.admission.fields import missing
from quorate.admission.levels import unknown_levels
from quorate.admission.surroundings import NOTHING_KNOWN, Surroundings
from quorate.api.composite import CompositePodGroup
from quorate.rules.composites import way_up_fault
from quorate.rules.validity import Cause, Fault, Findings


def review(
    new: CompositePodGroup, old: CompositePodGroup | None = None, around: Surroundings = NOTHING_KNOWN
) -> Findings:
    del old  # a composite may change in every way
    errors = (*_minimum_faults(new), *_parent_faults(new, around.composites))
    if errors:
        return Findings(errors)
    return Findings((), tuple(_warnings(new, around)))


def _minimum_faults(new: CompositePodGroup) -> Iterator[Fault]:
    minimum = new.spec.min_group_count
    if minimum is not None and minimum < 0:
        yield Fault("spec.minGroupCount", f"{minimum} is negative: write at least 0", Cause.VALUE)


def _parent_faults(
    new: CompositePodGroup, composites: Mapping[str, CompositePodGroup] | None
) -> Iterator[Fault]:
    def parent_of(name: str) -> str:
        found = new if name == new.metadata.name else known.get(f"{new.metadata.namespace}/{name}")
        return found.spec.parent if found is not None else ""

    known = composites or {}
    if fault := way_up_fault(new.metadata.name, parent_of):
        yield Fault("spec.parent", fault, Cause.STRUCTURE)


def _warnings(new: CompositePodGroup, around: Surroundings) -> Iterator[Fault]:
    parent = new.spec.parent
    if (
        parent
        and around.composites is not None
        and f"{new.metadata.namespace}/{parent}" not in around.composites
    ):
        text = f'CompositePodGroup "{parent}" does not exist in namespace {new.metadata.namespace}'
        yield missing("spec.parent", text)
    if new.spec.topology_constraint is not None:
        yield from unknown_levels(
            "spec.topologyConstraint", new.spec.topology_constraint, "", around.topologies
        )
