"""The pod templates of a role: its own or a shared one, with the patches that the role asks for."""

from collections.abc import Mapping
from dataclasses import dataclass

from quorate.api.meta import Json
from quorate.api.rbg import LeaderWorkerPattern, Role, RoleBasedGroupSpec, StandalonePattern
from quorate.rules.validity import Cause, Fault
from quorate.workloads.rbg.overlay import merged


@dataclass(frozen=True, slots=True)
class Templates:
    """`leader` is None where it is made like the workers."""

    worker: Json
    leader: Json | None = None


def templates_of(spec: RoleBasedGroupSpec) -> tuple[dict[str, Templates], tuple[Fault, ...]]:
    """Per role; a role without any is a fault, because it would lose its pods."""
    shared = {one.name: one.template for one in spec.role_templates or ()}
    found: dict[str, Templates] = {}
    faults: list[Fault] = []
    for index, role in enumerate(spec.roles or ()):
        field = f"spec.roles[{index}]"
        templates = _templates(role, shared)
        if templates is None:
            text = (
                f'role "{role.name}" has no pod template: '
                "give it a template, a standalonePattern or a leaderWorkerPattern"
            )
            faults.append(Fault(field, text, Cause.VALUE))
        else:
            found[role.name] = templates
    return found, tuple(faults)


def _templates(role: Role, shared: Mapping[str, Json]) -> Templates | None:
    pattern = role.leader_worker_pattern
    base = role.template or _base(pattern or role.standalone_pattern, shared)
    if base is None or pattern is None:
        return None if base is None else Templates(base)
    worker = merged(base, pattern.worker_template_patch)
    leader = merged(base, pattern.leader_template_patch)
    return Templates(worker, None if leader == worker else leader)


def _base(pattern: LeaderWorkerPattern | StandalonePattern | None, shared: Mapping[str, Json]) -> Json | None:
    if pattern is None:
        return None
    if pattern.template_ref is not None:
        return merged(shared[pattern.template_ref.name], pattern.template_ref.patch)
    return pattern.template
