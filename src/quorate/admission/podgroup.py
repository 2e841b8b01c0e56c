"""What is wrong or doubtful about a PodGroup."""

from collections.abc import Iterator

from quorate.admission.fields import duration, missing, one_of
from quorate.admission.levels import unknown_levels
from quorate.admission.surroundings import NOTHING_KNOWN, Surroundings
from quorate.api.labels import TOPOLOGY
from quorate.api.podgroup import PREEMPTIBILITIES, PodGroup, TopologyConstraint
from quorate.rules.tree import Tree, from_spec
from quorate.rules.validity import Cause, Fault, Findings, validate

NONE_ASKED = TopologyConstraint()


def review(new: PodGroup, old: PodGroup | None = None, around: Surroundings = NOTHING_KNOWN) -> Findings:
    found = validate(new.spec)
    errors = (*found.errors, *_value_faults(new))
    if errors:
        return Findings(errors)
    tree = from_spec(new.spec)
    warnings = (
        *found.warnings,
        *_queue_warnings(new, around),
        *_class_warnings(new, around),
        *_level_warnings(new, tree, around),
        *(_raised_minimums(old, tree) if old is not None else ()),
    )
    return Findings((), warnings)


def _value_faults(new: PodGroup) -> Iterator[Fault]:
    spec = new.spec
    yield from one_of("spec.preemptibility", spec.preemptibility, PREEMPTIBILITIES)
    yield from duration("spec.preemptionDelay", spec.preemption_delay)
    yield from duration("spec.stalenessGracePeriod", spec.staleness_grace_period, may_be_negative=True)
    if spec.scheduling_backoff is not None and spec.scheduling_backoff not in {-1, 1}:
        text = f"{spec.scheduling_backoff} means nothing: write -1 (never) or 1 (after the first failure)"
        yield Fault("spec.schedulingBackoff", text, Cause.VALUE)


def _queue_warnings(new: PodGroup, around: Surroundings) -> Iterator[Fault]:
    name, queues = new.spec.queue, around.queues
    if queues is None:
        return
    if not name:
        yield missing("spec.queue", "no queue is named: the gang waits until it has one")
    elif name not in queues:
        known = ", ".join(sorted(queues)) or "none"
        yield missing("spec.queue", f'queue "{name}" does not exist: the cluster has {known}')
    elif any(queue.spec.parent_queue == name for queue in queues.values()):
        yield missing(
            "spec.queue", f'queue "{name}" has child queues, so it takes no gangs: name one of them'
        )


def _class_warnings(new: PodGroup, around: Surroundings) -> Iterator[Fault]:
    name, classes = new.spec.priority_class_name, around.priority_classes
    if name and classes is not None and name not in classes:
        text = f'PriorityClass "{name}" does not exist: the default priority is used'
        yield missing("spec.priorityClassName", text)


def _level_warnings(new: PodGroup, tree: Tree, around: Surroundings) -> Iterator[Fault]:
    fields = {group.name: f"spec.subGroups[{index}]" for index, group in enumerate(new.spec.sub_groups or ())}
    names = {None: new.metadata.annotation(TOPOLOGY)} | dict.fromkeys(tree.groups, "")
    for group in tree.groups.values():
        constraint = group.topology or NONE_ASKED
        inherited = names[group.parent]
        names[group.name] = constraint.topology or inherited
        field = f"{fields.get(group.name, 'spec')}.topologyConstraint"
        yield from unknown_levels(field, constraint, inherited, around.topologies)


def _raised_minimums(old: PodGroup, tree: Tree) -> Iterator[Fault]:
    """A running gang may fall below a minimum that was raised, and be evicted for it after its grace."""
    if old.status.phase not in {"Starting", "Running"} or validate(old.spec).errors:
        return
    before = from_spec(old.spec).groups
    for group in tree.groups.values():
        was = before.get(group.name)
        if was is None:
            continue
        field = f'group "{group.name}"' if group.name else "spec"
        for name, earlier, now in (
            ("minMember", was.minimum_members, group.minimum_members),
            ("minSubGroup", was.minimum_children, group.minimum_children),
        ):
            if now > earlier:
                text = (
                    f"raised from {earlier} to {now} on a running gang: it must hold before the grace is over"
                )
                yield Fault(f"{field}.{name}", text, Cause.LIVE)
