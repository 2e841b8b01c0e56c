"""What is wrong or doubtful about a RoleBasedGroup, in either of its API groups."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from quorate.admission.rollout import Amount, amount_faults, invalid, scaled
from quorate.admission.surroundings import NOTHING_KNOWN, Surroundings
from quorate.api.described import DNS_LABEL
from quorate.api.rbg import Role, RoleBasedGroup, RollingUpdate, TemplateRef
from quorate.rules.coordination import conflicts, placements
from quorate.rules.dependencies import DependencyError, levels
from quorate.rules.validity import Cause, Fault, Findings

_DNS_LABEL = re.compile(DNS_LABEL)


def review(
    new: RoleBasedGroup, old: RoleBasedGroup | None = None, around: Surroundings = NOTHING_KNOWN
) -> Findings:
    del old, around  # a group may change in every way, and stands alone
    roles = new.spec.roles or []
    errors = (
        *_name_faults(new),
        *_role_faults(roles),
        *_template_faults(new),
        *_order_faults(roles),
        *_segment_faults(new),
    )
    return Findings(errors, tuple(_warnings(roles)))


def _name_faults(new: RoleBasedGroup) -> Iterator[Fault]:
    name = new.metadata.name
    if len(name) > 63 or not _DNS_LABEL.fullmatch(name):
        text = f'"{name}" is not a valid DNS label: use lower case letters, digits and "-", at most 63'
        yield Fault("metadata.name", text, Cause.VALUE)


def _role_faults(roles: Sequence[Role]) -> Iterator[Fault]:
    if not roles:
        yield Fault("spec.roles", "a group needs at least one role", Cause.VALUE)
    counts = Counter(role.name for role in roles)
    for index, role in enumerate(roles):
        field = f"spec.roles[{index}]"
        if counts[role.name] > 1:
            yield Fault(f"{field}.name", f'"{role.name}" is the name of two roles', Cause.STRUCTURE)
        if role.replicas < 0:
            yield invalid(f"{field}.replicas", role.replicas, "must be greater than or equal to 0")
        if role.leader_worker_pattern is not None and role.leader_worker_pattern.size < 1:
            size = role.leader_worker_pattern.size
            yield invalid(f"{field}.leaderWorkerPattern.size", size, "must be greater than or equal to 1")
        if sum(pattern is not None for pattern in _patterns(role)) > 1:
            text = (
                "a role has one of template, standalonePattern, leaderWorkerPattern, customComponentsPattern"
            )
            yield Fault(field, text, Cause.STRUCTURE)
        if role.rollout_strategy is not None and role.rollout_strategy.rolling_update is not None:
            yield from rollout_faults(
                f"{field}.rolloutStrategy.rollingUpdate", role.rollout_strategy.rolling_update, role.replicas
            )


def rollout_faults(field: str, rolling: RollingUpdate, replicas: int) -> Iterator[Fault]:
    """A rollout needs room and something to roll; of a role without instances nothing is asked."""
    amounts: dict[str, Amount] = {
        "maxUnavailable": rolling.max_unavailable,
        "maxSurge": rolling.max_surge,
        "partition": rolling.partition,
    }
    faults = [fault for name, amount in amounts.items() for fault in amount_faults(f"{field}.{name}", amount)]
    yield from faults
    if faults or not replicas:
        return
    missing = scaled(rolling.max_unavailable, replicas, up=False)
    if not missing and not scaled(rolling.max_surge, replicas, up=True):
        yield Fault(f"{field}.maxUnavailable", "maxSurge and maxUnavailable cannot both be 0", Cause.VALUE)
    partition = scaled(rolling.partition, replicas, up=True)
    if partition is not None and partition >= replicas:
        text = f"partition {partition} must be less than replicas {replicas}"
        yield Fault(f"{field}.partition", text, Cause.VALUE)


def _template_faults(new: RoleBasedGroup) -> Iterator[Fault]:
    templates = new.spec.role_templates or []
    counts = Counter(template.name for template in templates)
    for index, template in enumerate(templates):
        field = f"spec.roleTemplates[{index}]"
        if counts[template.name] > 1:
            yield Fault(f"{field}.name", f'duplicate template name "{template.name}"', Cause.STRUCTURE)
        if not (template.template.get("spec") or {}).get("containers"):
            yield Fault(f"{field}.template", "a template needs at least one container", Cause.VALUE)
    for index, role in enumerate(new.spec.roles or ()):
        reference = _reference(role)
        if reference is not None and reference.name not in counts:
            text = f'template "{reference.name}" not found in spec.roleTemplates'
            yield Fault(f"spec.roles[{index}].templateRef", text, Cause.STRUCTURE)


def _order_faults(roles: Sequence[Role]) -> Iterator[Fault]:
    try:
        levels({role.name: role.dependencies or () for role in roles})
    except DependencyError as error:
        index = next(index for index, role in enumerate(roles) if role.name == error.role)
        yield Fault(f"spec.roles[{index}].dependencies", str(error), Cause.STRUCTURE)


def _segment_faults(new: RoleBasedGroup) -> Iterator[Fault]:
    requirements = new.spec.coordination_requirements or []
    known = [role.name for role in new.spec.roles or ()]
    for field, placement in placements(requirements):
        if not placement.segment_size:
            yield Fault(f"{field}.segmentSize", "a segment needs a size for at least one role", Cause.VALUE)
        for role, size in (placement.segment_size or {}).items():
            at = f"{field}.segmentSize.{role}"
            if size < 1:
                yield invalid(at, size, "must be greater than or equal to 1")
            if role not in known:
                text = f'role "{role}" does not exist: the group has {", ".join(known)}'
                yield Fault(at, text, Cause.STRUCTURE)
    yield from conflicts(requirements)


def _warnings(roles: Sequence[Role]) -> Iterator[Fault]:
    for index, role in enumerate(roles):
        if all(pattern is None for pattern in _patterns(role)):
            text = "no pattern and no template is given: the role gets no pods"
            yield Fault(f"spec.roles[{index}]", text, Cause.REFERENCE)


def _patterns(role: Role) -> tuple[object, ...]:
    return role.template, role.standalone_pattern, role.leader_worker_pattern, role.custom_components_pattern


def _reference(role: Role) -> TemplateRef | None:
    pattern = role.standalone_pattern or role.leader_worker_pattern
    return None if pattern is None else pattern.template_ref
