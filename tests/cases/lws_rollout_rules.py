"""Where rollouts of LeaderWorkerSets differ from upstream's on purpose; see `deviations`.

A scenario may meet several of these at once: a rule holds if it explains a difference, and rules explain all.
"""

from collections.abc import Callable, Iterable
from typing import Any

from tests.cases.deviations import Difference, Mismatch, Rule

Json = dict[str, Any]
Explains = Callable[[Json, str, Difference], bool]


def _is_surge(case: Json, path: str, pair: Difference) -> bool:
    counted = path.endswith((".ready_replicas", ".updated_replicas"))
    return counted and case["lws"]["max_surge"] > 0 and pair[1] < pair[0]


def _is_history(_: Json, path: str, pair: Difference) -> bool:
    return path.endswith(".revisions") and pair[1] > pair[0]


def _partitions(case: Json) -> Iterable[int]:
    yield case["lws"]["partition"]
    for step in case["steps"]:
        yield from (act["value"] for act in step.get("actions") or () if act["do"] == "set_partition")


def _is_held(case: Json, path: str, pair: Difference) -> bool:
    is_condition = path.endswith((".Available", ".Progressing"))
    return is_condition and any(_partitions(case)) and isinstance(pair[1], bool)


def _is_idle_surge(case: Json, path: str, pair: Difference) -> bool:
    has_surge = case["lws"]["max_surge"] > 0 and any(_partitions(case))
    return path.endswith(".leader_set_replicas") and has_surge and pair[1] < pair[0]


def _is_untold(case: Json, path: str, _: Difference) -> bool:
    return bool(case["partial"]) and ".events" in path


EXPLAINING: tuple[tuple[str, str, Explains], ...] = (
    ("surge is extra", "groups beyond spec.replicas are not counted in the status", _is_surge),
    ("history", "revisions that no group uses are kept, so that a rollout can be undone", _is_history),
    ("every group", "a set is available once every group is updated, also those it holds back", _is_held),
    ("no idle surge", "groups that the partition holds back ask for no surge", _is_idle_surge),
    ("left out", "the case does not say what was done to get these events", _is_untold),
)


def _rule(name: str, reason: str, explains: Explains) -> Rule:
    def holds(m: Mismatch) -> bool:
        pairs = m.differences.items()
        others = [every for _, _, every in EXPLAINING]
        is_here = any(explains(m.case, path, pair) for path, pair in pairs)
        return is_here and all(any(one(m.case, path, pair) for one in others) for path, pair in pairs)

    return Rule(name, reason, holds)


RULES: dict[str, tuple[Rule, ...]] = {"lws_scenarios": tuple(_rule(*one) for one in EXPLAINING)}
