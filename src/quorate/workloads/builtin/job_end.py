"""Whether a Job is over, and why: failure rules first, then success rules, then completions."""

from collections.abc import Sequence
from typing import NamedTuple

from quorate.api.meta import Json
from quorate.plan import Emit, Ref
from quorate.workloads.builtin import outcome, pods
from quorate.workloads.builtin.conditions import find
from quorate.workloads.builtin.instants import epoch
from quorate.workloads.builtin.job_counts import Counts, has_failed, is_indexed, parse_indexes, rule_for


class End(NamedTuple):
    """How a Job ends: the reason and message that both of its last conditions carry."""

    is_success: bool
    reason: str
    message: str

    @property
    def target(self) -> str:
        return "SuccessCriteriaMet" if self.is_success else "FailureTarget"

    @property
    def terminal(self) -> str:
        return "Complete" if self.is_success else "Failed"

    def warning(self, about: Ref) -> Emit:
        return outcome.warning(about, self.reason, self.message)


def end_of(item: Json, owned: Sequence[Json], counts: Counts, now: float) -> End | None:
    """A verdict once given stands; a suspended Job cannot end."""
    return (
        _given(item)
        or _policy(item, owned)
        or _limits(item, owned, counts, now)
        or _success(item, owned, counts)
    )


def _given(item: Json) -> End | None:
    conditions = item.get("status", {}).get("conditions")
    for kind, is_success in (("FailureTarget", False), ("SuccessCriteriaMet", True)):
        found = find(conditions, kind)
        if found is not None and found["status"] == "True":
            return End(is_success, found["reason"], found["message"])
    return None


def _policy(item: Json, owned: Sequence[Json]) -> End | None:
    if not item["spec"].get("podFailurePolicy"):
        return None
    for pod in owned:
        found = rule_for(item, pod) if has_failed(item, pod) else None
        if found is not None and found[1].get("action") == "FailJob":
            return End(False, "PodFailurePolicy", f"{found[2]} FailJob rule at index {found[0]}")
    return None


def _limits(item: Json, owned: Sequence[Json], counts: Counts, now: float) -> End | None:
    spec = item["spec"]
    failures = counts.all_failed
    if spec["template"]["spec"].get("restartPolicy") == "OnFailure":
        failures += sum(pods.restarts(pod) for pod in owned if pods.is_active(pod))
    limit = spec.get("backoffLimit", 6)
    if failures > limit or (limit and failures >= limit and _restarts_in_place(spec)):
        return End(False, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    deadline, start = spec.get("activeDeadlineSeconds"), item.get("status", {}).get("startTime")
    if deadline is not None and start and not spec.get("suspend") and now - epoch(start) >= deadline:
        return End(False, "DeadlineExceeded", "Job was active longer than specified deadline")
    return None


def _restarts_in_place(spec: Json) -> bool:
    return bool(spec["template"]["spec"].get("restartPolicy") == "OnFailure")


def _success(item: Json, owned: Sequence[Json], counts: Counts) -> End | None:
    rule = _success_rule(item, counts)
    if rule is not None:
        return End(True, "SuccessPolicy", f"Matched rules at index {rule}")
    spec = item["spec"]
    wanted = spec.get("completions")
    if wanted is None:
        done = counts.all_succeeded > 0 and not any(pods.is_active(pod) for pod in owned)
    else:
        have = len(counts.indexes) if is_indexed(item) else counts.all_succeeded
        done = have >= wanted and not spec.get("suspend")
    return End(True, "CompletionsReached", "Reached expected number of succeeded pods") if done else None


def _success_rule(item: Json, counts: Counts) -> int | None:
    rules = (item["spec"].get("successPolicy") or {}).get("rules") or ()
    for place, rule in enumerate(rules):
        chosen = set(parse_indexes(rule.get("succeededIndexes", "")))
        have = counts.indexes & chosen if chosen else counts.indexes
        if len(have) >= rule.get("succeededCount", len(chosen) or item["spec"].get("completions", 1)):
            return place
    return None
