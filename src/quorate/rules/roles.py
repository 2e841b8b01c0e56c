"""What is structurally wrong with the roles of a RoleBasedGroup: admission refuses it, the controller checks again.

A group with such a fault is not touched: nothing is scaled, nothing rolled, nothing removed.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from quorate.api.rbg import Role, RoleBasedGroupSpec, TemplateRef
from quorate.api.rbgcoordination import CoordinationStrategy
from quorate.rules.coordination import conflicts, placements
from quorate.rules.dependencies import DependencyError, levels
from quorate.rules.skew import SkewError, skew
from quorate.rules.validity import Cause, Fault


def faults(spec: RoleBasedGroupSpec) -> tuple[Fault, ...]:
    roles = spec.roles or []
    return (*_role_faults(roles), *_template_faults(spec), *_order_faults(roles), *_rule_faults(spec))


def patterns(role: Role) -> tuple[object, ...]:
    return role.template, role.standalone_pattern, role.leader_worker_pattern, role.custom_components_pattern


def _role_faults(roles: Sequence[Role]) -> Iterator[Fault]:
    if not roles:
        yield Fault("spec.roles", "a group needs at least one role", Cause.VALUE)
    counts = Counter(role.name for role in roles)
    for index, role in enumerate(roles):
        field = f"spec.roles[{index}]"
        if counts[role.name] > 1:
            yield Fault(f"{field}.name", f'"{role.name}" is the name of two roles', Cause.STRUCTURE)
        if role.replicas < 0:
            yield _invalid(f"{field}.replicas", role.replicas, "must be greater than or equal to 0")
        if role.leader_worker_pattern is not None and role.leader_worker_pattern.size < 1:
            size = role.leader_worker_pattern.size
            yield _invalid(f"{field}.leaderWorkerPattern.size", size, "must be greater than or equal to 1")
        if sum(pattern is not None for pattern in patterns(role)) > 1:
            text = (
                "a role has one of template, standalonePattern, leaderWorkerPattern, customComponentsPattern"
            )
            yield Fault(field, text, Cause.STRUCTURE)


def _template_faults(spec: RoleBasedGroupSpec) -> Iterator[Fault]:
    templates = spec.role_templates or []
    counts = Counter(template.name for template in templates)
    for index, template in enumerate(templates):
        field = f"spec.roleTemplates[{index}]"
        if counts[template.name] > 1:
            yield Fault(f"{field}.name", f'duplicate template name "{template.name}"', Cause.STRUCTURE)
        if not (template.template.get("spec") or {}).get("containers"):
            yield Fault(f"{field}.template", "a template needs at least one container", Cause.VALUE)
    for index, role in enumerate(spec.roles or ()):
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


def _rule_faults(spec: RoleBasedGroupSpec) -> Iterator[Fault]:
    known = [role.name for role in spec.roles or ()]
    names: set[str] = set()
    for index, requirement in enumerate(spec.coordination_requirements or ()):
        field = f"spec.coordinationRequirements[{index}]"
        if requirement.name and requirement.name in names:
            yield Fault(f"{field}.name", f'"{requirement.name}" is the name of two rules', Cause.STRUCTURE)
        names.add(requirement.name)
        for role in requirement.roles or ():
            if role not in known:
                yield _unknown(f"{field}.roles", role, known)
        yield from _skew_faults(field, requirement.strategy)
        yield from _minimum_faults(field, requirement.strategy, known)
    yield from _segment_faults(spec, known)


def _skew_faults(field: str, strategy: CoordinationStrategy) -> Iterator[Fault]:
    amounts = {
        "scaling": strategy.scaling.max_skew if strategy.scaling else None,
        "rollingUpdate": strategy.rolling_update.max_skew if strategy.rolling_update else None,
    }
    for name, amount in amounts.items():
        try:
            skew(amount)
        except SkewError as error:
            yield Fault(f"{field}.strategy.{name}.maxSkew", str(error), Cause.VALUE)


def _minimum_faults(field: str, strategy: CoordinationStrategy, known: Sequence[str]) -> Iterator[Fault]:
    gang = strategy.scheduling.gang if strategy.scheduling else None
    for role, minimum in ((gang.min_replicas if gang else None) or {}).items():
        at = f"{field}.strategy.scheduling.gang.minReplicas.{role}"
        if role not in known:
            yield _unknown(at, role, known)
        if minimum < 1:
            yield _invalid(at, minimum, "must be greater than or equal to 1")


def _unknown(field: str, role: str, known: Sequence[str]) -> Fault:
    text = f'role "{role}" does not exist: the group has {", ".join(known)}'
    return Fault(field, text, Cause.STRUCTURE)


def _segment_faults(spec: RoleBasedGroupSpec, known: Sequence[str]) -> Iterator[Fault]:
    requirements = spec.coordination_requirements or []
    for field, placement in placements(requirements):
        if placement.segment_size == {}:
            yield Fault(f"{field}.segmentSize", "a segment needs a size for at least one role", Cause.VALUE)
        for role, size in (placement.segment_size or {}).items():
            at = f"{field}.segmentSize.{role}"
            if size < 1:
                yield _invalid(at, size, "must be greater than or equal to 1")
            if role not in known:
                yield _unknown(at, role, known)
    yield from conflicts(requirements)


def _reference(role: Role) -> TemplateRef | None:
    pattern = role.standalone_pattern or role.leader_worker_pattern
    return None if pattern is None else pattern.template_ref


def _invalid(field: str, value: int, message: str) -> Fault:
    return Fault(field, f"Invalid value: {value}: {message}", Cause.VALUE)
