"""What is wrong or doubtful about a RoleBasedGroup, in either of its API groups."""

import re
from collections.abc import Iterable, Iterator, Sequence

from quorate.admission.rollout import Amount, amount_faults, scaled
from quorate.admission.surroundings import NOTHING_KNOWN, Surroundings
from quorate.api.described import DNS_LABEL
from quorate.api.labels import RBG_ENGINE
from quorate.api.rbg import Role, RoleBasedGroup, RollingUpdate
from quorate.api.rbgpolicy import ScalingAdapter
from quorate.rules.roles import faults, not_a_label, patterns
from quorate.rules.validity import Cause, Fault, Findings

_DNS_LABEL = re.compile(DNS_LABEL)


def review(
    new: RoleBasedGroup, old: RoleBasedGroup | None = None, around: Surroundings = NOTHING_KNOWN
) -> Findings:
    roles = new.spec.roles or []
    edited = () if old is None else _edited(new, old, (around.adapters or {}).values())
    errors = (*_name_faults(new), *_rollouts(roles), *faults(new.spec), *edited)
    return Findings(errors, tuple(_warnings(roles)))


def _name_faults(new: RoleBasedGroup) -> Iterator[Fault]:
    name = new.metadata.name
    if len(name) > 63 or not _DNS_LABEL.fullmatch(name):
        yield Fault("metadata.name", not_a_label(name), Cause.VALUE)


def _rollouts(roles: Sequence[Role]) -> Iterator[Fault]:
    for index, role in enumerate(roles):
        if role.rollout_strategy is not None and role.rollout_strategy.rolling_update is not None:
            field = f"spec.roles[{index}].rolloutStrategy.rollingUpdate"
            yield from rollout_faults(field, role.rollout_strategy.rolling_update, role.replicas)


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


def _edited(new: RoleBasedGroup, old: RoleBasedGroup, adapters: Iterable[ScalingAdapter]) -> Iterator[Fault]:
    """What an adapter says counts, so a change of the role's own number would do nothing."""
    meta, before = new.metadata, {role.name: role.replicas for role in old.spec.roles or ()}
    said = {
        one.spec.scale_target_ref.role: one
        for one in adapters
        if (one.metadata.namespace, one.spec.scale_target_ref.name) == (meta.namespace, meta.name)
    }
    for index, role in enumerate(new.spec.roles or ()):
        adapter = said.get(role.name)
        if adapter is None or adapter.spec.replicas in {None, role.replicas}:
            continue
        if role.replicas != before.get(role.name, role.replicas):
            text = (
                f'role "{role.name}" has {adapter.spec.replicas} instances by RoleBasedGroupScalingAdapter '
                f"{adapter.metadata.name}: scale that, or delete it"
            )
            yield Fault(f"spec.roles[{index}].replicas", text, Cause.LIVE)


def _warnings(roles: Sequence[Role]) -> Iterator[Fault]:
    for index, role in enumerate(roles):
        if all(pattern is None for pattern in patterns(role)):
            text = "no pattern and no template is given: the role gets no pods"
            yield Fault(f"spec.roles[{index}]", text, Cause.REFERENCE)
        if RBG_ENGINE in (role.annotations or {}):
            text = f'role "{role.name}": {RBG_ENGINE} has no effect, a LeaderWorkerSet runs every role'
            yield Fault(f"spec.roles[{index}].annotations", text, Cause.VALUE)
        rolling = role.rollout_strategy.rolling_update if role.rollout_strategy else None
        if rolling is not None and rolling.type == "InPlaceOnly":
            text = f'role "{role.name}": pods are made again, not updated in place'
            yield Fault(f"spec.roles[{index}].rolloutStrategy.rollingUpdate.type", text, Cause.VALUE)
