"""What is structurally wrong with the roles of a RoleBasedGroup: admission refuses it, the controller checks again.

A group with such a fault is not touched: nothing is scaled, nothing rolled, nothing removed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quorate.api.described import DNS_LABEL
from quorate.api.rbg import Role, RoleBasedGroupSpec, TemplateRef
from quorate.api.rbgcoordination import MAX_INSTANCES, CoordinationRequirement, CoordinationStrategy
from quorate.rules.coordination import conflicts
from quorate.rules.dependencies import DependencyError, levels
from quorate.rules.skew import SkewError, skew
from quorate.rules.validity import Cause, Fault

_DNS_LABEL = re.compile(DNS_LABEL)


def not_a_label(name: str) -> str:
    return f'"{name}" is not a valid DNS label: use lower case letters, digits and "-", at most 63'


class _Roles(NamedTuple):
    """The roles that a rule may name, and whose they are."""

    whose: str
    names: Sequence[str]

    def unknown(self, field: str, said: Sequence[str]) -> Iterator[Fault]:
        for role in said:
            if role not in self.names:
                text = f'role "{role}" does not exist: the {self.whose} has {", ".join(self.names) or "none"}'
                yield Fault(field, text, Cause.STRUCTURE)


def faults(spec: RoleBasedGroupSpec) -> tuple[Fault, ...]:
    roles = spec.roles or []
    rules = rule_faults(spec.coordination_requirements or (), [role.name for role in roles])
    return (*_role_faults(roles), *_template_faults(spec), *_order_faults(roles), *rules)


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
        if role.replicas > MAX_INSTANCES:
            yield _invalid(f"{field}.replicas", role.replicas, f"must be at most {MAX_INSTANCES}")
        yield from _pattern_faults(field, role)
        yield from _restart_faults(field, role)


def _pattern_faults(field: str, role: Role) -> Iterator[Fault]:
    if role.leader_worker_pattern is not None and role.leader_worker_pattern.size < 1:
        size = role.leader_worker_pattern.size
        yield _invalid(f"{field}.leaderWorkerPattern.size", size, "must be greater than or equal to 1")
    if sum(pattern is not None for pattern in patterns(role)) > 1:
        text = "a role has one of template, standalonePattern, leaderWorkerPattern, customComponentsPattern"
        yield Fault(field, text, Cause.STRUCTURE)
    if role.custom_components_pattern is not None:
        text = (
            f'role "{role.name}": components are not supported; '
            "use a leaderWorkerPattern, or a role for each component"
        )
        yield Fault(f"{field}.customComponentsPattern", text, Cause.VALUE)


def _restart_faults(field: str, role: Role) -> Iterator[Fault]:
    found = {"standalonePattern": role.standalone_pattern, "leaderWorkerPattern": role.leader_worker_pattern}
    for name, pattern in found.items():
        config = pattern.restart_policy_config if pattern else None
        if config is not None and 0 < config.max_delay_seconds < config.base_delay_seconds:
            at = f"{field}.{name}.restartPolicyConfig.maxDelaySeconds"
            text = f"must be at least baseDelaySeconds, which is {config.base_delay_seconds}"
            yield _invalid(at, config.max_delay_seconds, text)


def _template_faults(spec: RoleBasedGroupSpec) -> Iterator[Fault]:
    templates = spec.role_templates or []
    counts = Counter(template.name for template in templates)
    for index, template in enumerate(templates):
        field = f"spec.roleTemplates[{index}]"
        if counts[template.name] > 1:
            yield Fault(f"{field}.name", f'duplicate template name "{template.name}"', Cause.STRUCTURE)
        if len(template.name) > 63 or not _DNS_LABEL.fullmatch(template.name):
            yield Fault(f"{field}.name", not_a_label(template.name), Cause.VALUE)
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


def rule_faults(
    requirements: Sequence[CoordinationRequirement], known: Sequence[str] | None = None
) -> Iterator[Fault]:
    """`known` are the roles of the group; None: they are not at hand, and a rule is judged by its own roles."""
    names: set[str] = set()
    for index, requirement in enumerate(requirements):
        field = f"spec.coordinationRequirements[{index}]"
        roles = _Roles("group", known) if known is not None else _Roles("rule", requirement.roles or ())
        if requirement.name and requirement.name in names:
            yield Fault(f"{field}.name", f'"{requirement.name}" is the name of two rules', Cause.STRUCTURE)
        names.add(requirement.name)
        yield from roles.unknown(f"{field}.roles", requirement.roles or ())
        yield from _skew_faults(field, requirement.strategy)
        yield from _minimum_faults(field, requirement.strategy, roles)
        yield from _segment_faults(field, requirement.strategy, roles)
    yield from conflicts(requirements)


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


def _minimum_faults(field: str, strategy: CoordinationStrategy, known: _Roles) -> Iterator[Fault]:
    gang = strategy.scheduling.gang if strategy.scheduling else None
    for role, minimum in ((gang.min_replicas if gang else None) or {}).items():
        at = f"{field}.strategy.scheduling.gang.minReplicas.{role}"
        yield from known.unknown(at, [role])
        if minimum < 1:
            yield _invalid(at, minimum, "must be greater than or equal to 1")


def _segment_faults(field: str, strategy: CoordinationStrategy, known: _Roles) -> Iterator[Fault]:
    sizes = strategy.segment_placement.segment_size if strategy.segment_placement else None
    field = f"{field}.strategy.segmentPlacement.segmentSize"
    if sizes == {}:
        yield Fault(field, "a segment needs a size for at least one role", Cause.VALUE)
    for role, size in (sizes or {}).items():
        if size < 1:
            yield _invalid(f"{field}.{role}", size, "must be greater than or equal to 1")
        yield from known.unknown(f"{field}.{role}", [role])


def _reference(role: Role) -> TemplateRef | None:
    pattern = role.standalone_pattern or role.leader_worker_pattern
    return None if pattern is None else pattern.template_ref


def _invalid(field: str, value: int, message: str) -> Fault:
    return Fault(field, f"Invalid value: {value}: {message}", Cause.VALUE)
