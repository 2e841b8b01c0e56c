"""How the scheduler decides: the file of `--policy-file`, and filters and scorers of installed packages."""

from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Annotated

import msgspec

from quorate.api.duration import DurationError, seconds
from quorate.api.meta import Part
from quorate.api.yamltext import UnreadableError, parsed
from quorate.cli.optionfile import from_file
from quorate.cli.plugins import installed
from quorate.scheduling.minruntime import Method
from quorate.scheduling.plugins import extended
from quorate.scheduling.policy import Action, Policy, Spread

DEFAULT = Policy()
AtLeastOne = Annotated[float, msgspec.Meta(ge=1)]
Weight = Annotated[float, msgspec.Meta(ge=0)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class PolicyError(ValueError):
    """What is wrong with a policy file; the message begins with the field."""


class UsageText(Part, frozen=True, forbid_unknown_fields=True):
    half_life: str
    factor: Weight = DEFAULT.usage_factor


class ConsolidationText(Part, frozen=True, forbid_unknown_fields=True):
    moved_units: Count = DEFAULT.moved_units
    tries: Count = DEFAULT.moving_tries


class SearchText(Part, frozen=True, forbid_unknown_fields=True):
    bulk_states: Count = DEFAULT.bulk_limit
    exact_states: Count = DEFAULT.exact_limit
    exact_nodes: Count = DEFAULT.exact_nodes


class FileText(Part, frozen=True, forbid_unknown_fields=True):
    actions: tuple[Action, ...] = DEFAULT.actions
    spread: tuple[Spread, ...] = ()
    staleness_grace_period: str = f"{DEFAULT.staleness_grace:g}s"
    reclaim_min_runtime_method: Method = DEFAULT.reclaim_min_runtime
    saturation_multiplier: AtLeastOne = DEFAULT.saturation_multiplier
    evicted_per_requested: AtLeastOne | None = None
    consolidation: ConsolidationText = ConsolidationText()
    search: SearchText = SearchText()
    usage: UsageText | None = None


@dataclass(frozen=True)
class Scheduling:
    """What a cycle goes by, and after how many seconds half of the recorded usage is forgotten, if any is."""

    policy: Policy = DEFAULT
    usage_half_life: float | None = None


def scheduling(file: Path | None) -> Scheduling:
    """What the file says, with the filters and scorers that are installed."""
    found = Scheduling() if file is None else from_file("--policy-file", file, parse_policy, PolicyError)
    filters = [(plugin.where, plugin.function) for plugin in installed("quorate.filters")]
    scorers = [(plugin.where, plugin.function) for plugin in installed("quorate.scorers")]
    return replace(found, policy=extended(found.policy, filters=filters, scorers=scorers))


def parse_policy(text: str) -> Scheduling:
    try:
        said = parsed(text, FileText)
    except UnreadableError as error:
        raise PolicyError(str(error)) from error
    if len(set(said.actions)) < len(said.actions):
        raise PolicyError("actions: each may stand here once")
    policy = Policy(
        actions=said.actions,
        spread=frozenset(said.spread),
        usage_factor=said.usage.factor if said.usage else DEFAULT.usage_factor,
        staleness_grace=_seconds("stalenessGracePeriod", said.staleness_grace_period),
        reclaim_min_runtime=said.reclaim_min_runtime_method,
        saturation_multiplier=said.saturation_multiplier,
        evicted_per_requested=said.evicted_per_requested or inf,
        moved_units=said.consolidation.moved_units,
        moving_tries=said.consolidation.tries,
        bulk_limit=said.search.bulk_states,
        exact_limit=said.search.exact_states,
        exact_nodes=said.search.exact_nodes,
    )
    return Scheduling(policy, _half_life(said.usage))


def _half_life(usage: UsageText | None) -> float | None:
    if usage is None:
        return None
    found = _seconds("usage.halfLife", usage.half_life)
    if found <= 0:
        raise PolicyError(
            f'usage.halfLife: "{usage.half_life}" forgets everything at once; write more than 0s'
        )
    return found


def _seconds(field: str, text: str) -> float:
    try:
        return seconds(text)
    except DurationError as error:
        raise PolicyError(f"{field}: {error}") from error
