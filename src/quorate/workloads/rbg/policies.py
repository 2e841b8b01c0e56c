"""What a CoordinatedPolicy is told about itself: it steers the groups of its own name, and often there is none."""

from collections.abc import Iterator, Sequence

from quorate.api import timestamps
from quorate.api.meta import Condition, Kind
from quorate.api.rbg import COORDINATED_POLICY
from quorate.api.rbgpolicy import CoordinatedPolicy, CoordinatedPolicyStatus
from quorate.plan import Change
from quorate.rules.conditions import transitioned
from quorate.rules.statuschange import status_change

BOUND = "Bound"


def statuses(policy: CoordinatedPolicy, groups: Sequence[Kind], now: float) -> Iterator[Change]:
    """`groups` are the kinds of which a group of that name exists."""
    meta, old = policy.metadata, policy.status
    if groups:
        named = ", ".join(f"{kind.resource}/{meta.name}" for kind in groups)
        said = Condition(type=BOUND, status="True", reason="GroupFound", message=f"steers {named}")
    else:
        text = f'no RoleBasedGroup is called "{meta.name}": a policy steers the group of its own name and namespace'
        said = Condition(type=BOUND, status="False", reason="NoGroup", message=text)
    said.observed_generation = meta.generation
    new = CoordinatedPolicyStatus(
        observed_generation=meta.generation,
        conditions=transitioned([said], old.conditions, timestamps.text(now)),
    )
    change = status_change(COORDINATED_POLICY, policy, old=old, new=new)
    if change is not None:
        yield change
