"""The conditions of a RoleBasedGroup: from "nothing serves" over "a segment serves" to "all is ready".

    segments ready   Ready                        MinimumSegmentsAvailable
    none             False DeploymentInProgress   False NoSegmentsReady
    some, never all  False PartialDeployment      True  MinimumSegmentReady
    some, once all   False ScalingInProgress      True  MinimumMet
    all              True  AllReplicasReady       True  AllSegmentsReady

`Ready` counts every role, the segments only those that coordinations name: with all segments ready but a role
outside them short, each condition says its own. MinimumReplicasAvailable says the same as
MinimumSegmentsAvailable under the other name that the design uses. A group that places no segments has only
`Ready`, and its ready instances stand for segments. Each condition remembers "once all" by its own last reason;
losing the last segment forgets it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from quorate.api.meta import Condition
from quorate.workloads.segmentgangs import Team, teams
from quorate.workloads.segments import Coordination, States, ready_segments, wanted

READY = "Ready"
MINIMUM_SEGMENTS = "MinimumSegmentsAvailable"
MINIMUM_REPLICAS = "MinimumReplicasAvailable"


class Tally(NamedTuple):
    """What is ready and what is wanted, in segments and in pods."""

    segments_ready: int
    segments: int
    pods_ready: int
    pods: int

    def __str__(self) -> str:
        segments, pods = f"{self.segments_ready}/{self.segments}", f"{self.pods_ready}/{self.pods}"
        return f"{segments} segments ready ({pods} pods)"


def conditions(
    states: States,
    pods: Mapping[str, int],
    coordinations: Sequence[Coordination] = (),
    previous: Sequence[Condition] | None = None,
    whole: Sequence[int] | None = None,
) -> list[Condition]:
    """`pods` are those of one instance by role; `previous` tells whether all was ready before.

    `whole` are the segments of each team of which every instance is ready; None: as many as ready instances make.
    """
    linked = teams(coordinations)
    up = [ready_segments(team.sizes, states) for team in linked] if whole is None else whole
    serves = _serves(states, linked, up)
    before = {condition.type: condition for condition in previous or ()}
    ready = _ready(count(states, pods), is_serving=serves, before=before.get(READY))
    if not linked:
        return [ready]
    tally = count(states, pods, linked)._replace(segments_ready=sum(up))
    minimum = _minimum(tally, is_serving=serves, before=before.get(MINIMUM_SEGMENTS))
    return [ready, *(_condition(kind, *minimum) for kind in (MINIMUM_SEGMENTS, MINIMUM_REPLICAS))]


def count(states: States, pods: Mapping[str, int], linked: Sequence[Team] | None = None) -> Tally:
    """Of the roles in the teams, or of all; instances beyond what is wanted do not count."""
    counted = [role for team in linked for role in team.sizes] if linked is not None else list(states)
    return Tally(
        segments_ready=sum(ready_segments(team.sizes, states) for team in linked or ()),
        segments=sum(wanted(team.sizes, states) for team in linked or ()),
        pods_ready=sum(min(states[role].ready, states[role].desired) * pods[role] for role in counted),
        pods=sum(states[role].desired * pods[role] for role in counted),
    )


def _serves(states: States, linked: Sequence[Team], up: Sequence[int]) -> bool:
    """One whole segment of every team that wants any; without teams, any ready instance."""
    if not linked:
        return any(state.ready for state in states.values())
    active = [found for team, found in zip(linked, up, strict=True) if wanted(team.sizes, states)]
    return bool(active) and all(active)


def _ready(tally: Tally, *, is_serving: bool, before: Condition | None) -> Condition:
    message = f"{tally.pods_ready}/{tally.pods} pods ready"
    if tally.pods_ready == tally.pods:
        return _condition(READY, "True", "AllReplicasReady", message)
    if not is_serving:
        return _condition(READY, "False", "DeploymentInProgress", message)
    was_complete = before is not None and (before.status == "True" or before.reason == "ScalingInProgress")
    return _condition(READY, "False", "ScalingInProgress" if was_complete else "PartialDeployment", message)


def _minimum(tally: Tally, *, is_serving: bool, before: Condition | None) -> tuple[str, str, str]:
    if not is_serving:
        return "False", "NoSegmentsReady", str(tally)
    if tally.segments_ready == tally.segments:
        return "True", "AllSegmentsReady", str(tally)
    was_complete = before is not None and before.reason in {"AllSegmentsReady", "MinimumMet"}
    return "True", "MinimumMet" if was_complete else "MinimumSegmentReady", str(tally)


def _condition(kind: str, status: str, reason: str, message: str) -> Condition:
    return Condition(type=kind, status=status, reason=reason, message=message)
