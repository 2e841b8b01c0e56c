"""Counting a Job's finished pods: totals, pods noted but not counted yet, and completed indexes."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from quorate.api.meta import Json
from quorate.workloads.builtin import pods
from quorate.workloads.builtin.outcome import is_deleting

INDEX = "batch.kubernetes.io/job-completion-index"
_COUNTED = {"active", "succeeded", "failed", "completedIndexes"}


class Counts(NamedTuple):
    """`succeeded` and `failed` are counted for good; the `new_` tuples are uids still to be counted."""

    succeeded: int
    failed: int
    new_succeeded: tuple[str, ...]
    new_failed: tuple[str, ...]
    indexes: frozenset[int]

    @property
    def all_succeeded(self) -> int:
        return self.succeeded + len(self.new_succeeded)

    @property
    def all_failed(self) -> int:
        return self.failed + len(self.new_failed)

    @property
    def is_pending(self) -> bool:
        return bool(self.new_succeeded or self.new_failed)

    def pending(self) -> Json:
        named = {"succeeded": list(self.new_succeeded), "failed": list(self.new_failed)}
        return {key: uids for key, uids in named.items() if uids}


def is_indexed(item: Json) -> bool:
    return bool(item["spec"].get("completionMode") == "Indexed")


def index_of(pod: Json) -> int:
    """The completion index of a pod; -1 for one that has none."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX, "")
    return int(text) if text.isdigit() else -1


def has_failed(item: Json, pod: Json) -> bool:
    """A pod on its way out counts as failed at once, unless only ended pods are to be replaced."""
    if pods.phase(pod) == "Failed":
        return True
    return is_deleting(pod) and pods.phase(pod) != "Succeeded" and not replaces_only_failed(item)


def replaces_only_failed(item: Json) -> bool:
    default = "Failed" if item["spec"].get("podFailurePolicy") else "TerminatingOrFailed"
    return bool(item["spec"].get("podReplacementPolicy", default) == "Failed")


def count(item: Json, owned: Sequence[Json], finalizer: str) -> Counts:
    status = item.get("status", {})
    noted = status.get("uncountedTerminatedPods") or {}
    tracked = {
        pod["metadata"]["uid"] for pod in owned if finalizer in (pod["metadata"].get("finalizers") or ())
    }
    before = {kind: tuple(noted.get(kind) or ()) for kind in ("succeeded", "failed")}
    fresh = [pod for pod in owned if pod["metadata"]["uid"] in tracked.difference(*before.values())]
    won = [pod for pod in fresh if pods.phase(pod) == "Succeeded"]
    lost = [pod for pod in fresh if has_failed(item, pod) and not is_ignored(item, pod)]
    indexes = frozenset(parse_indexes(status.get("completedIndexes", "")))
    if is_indexed(item):
        limit = item["spec"].get("completions", 1)
        indexes |= {index_of(pod) for pod in won if 0 <= index_of(pod) < limit}
    settled = {kind: sum(uid not in tracked for uid in uids) for kind, uids in before.items()}
    return Counts(
        status.get("succeeded", 0) + settled["succeeded"],
        status.get("failed", 0) + settled["failed"],
        _open(before["succeeded"], tracked, won),
        _open(before["failed"], tracked, lost),
        indexes,
    )


def _open(before: Iterable[str], tracked: set[str], fresh: Iterable[Json]) -> tuple[str, ...]:
    return (*(uid for uid in before if uid in tracked), *(pod["metadata"]["uid"] for pod in fresh))


def render(
    item: Json, status: Json, counts: Counts, *, active: int = 0, ready: int = 0, stopping: int = 0
) -> Json:
    """The status with its counting part replaced; counts of zero are left out as the API does."""
    succeeded = len(counts.indexes) if is_indexed(item) else counts.succeeded
    shown = {key: value for key, value in status.items() if key not in _COUNTED}
    named = {"active": active, "succeeded": succeeded, "failed": counts.failed}
    shown |= {key: number for key, number in named.items() if number}
    if counts.indexes:
        shown["completedIndexes"] = write_indexes(counts.indexes)
    return {**shown, "ready": ready, "terminating": stopping, "uncountedTerminatedPods": counts.pending()}


def parse_indexes(text: str) -> list[int]:
    """`1,3-5` as numbers."""
    found: list[int] = []
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found


def write_indexes(indexes: Iterable[int]) -> str:
    """Sorted numbers with runs of three or more written as ranges, two as a pair."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    parts = (f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs)
    return ",".join(parts)


def rule_for(item: Json, pod: Json) -> tuple[int, Json, str] | None:
    """The first rule of `podFailurePolicy` that a failed pod matches: (place, rule, what matched)."""
    policy = item["spec"].get("podFailurePolicy") or {}
    for place, rule in enumerate(policy.get("rules") or ()):
        why = _matches(rule, pod)
        if why is not None:
            return place, rule, why
    return None


def is_ignored(item: Json, pod: Json) -> bool:
    found = rule_for(item, pod)
    return found is not None and found[1].get("action") == "Ignore"


def _matches(rule: Json, pod: Json) -> str | None:
    name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    codes = rule.get("onExitCodes")
    if codes is not None:
        return _exit_matches(codes, pod, name)
    has = {(item["type"], item["status"]) for item in pod.get("status", {}).get("conditions") or ()}
    for pattern in rule.get("onPodConditions") or ():
        if (pattern["type"], pattern.get("status", "True")) in has:
            return f"Pod {name} has condition {pattern['type']} matching"
    return None


def _exit_matches(codes: Json, pod: Json, name: str) -> str | None:
    status = pod.get("status", {})
    for item in (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())):
        code = ((item.get("state") or {}).get("terminated") or {}).get("exitCode", 0)
        if not code or codes.get("containerName", item["name"]) != item["name"]:
            continue
        if (code in codes["values"]) == (codes["operator"] == "In"):
            return f"Container {item['name']} for pod {name} failed with exit code {code} matching"
    return None
