"""Where Quorate differs from the expected outcome of a case on purpose: rules with reasons.

A rule looks at what a case contains and at what was expected and got, never at its id, so that it means the
same for cases not seen here. Adapters call `explain` with a mismatch and report the first rule that holds.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Difference = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One case whose outcome differs from what it expects; `topic` is the table it comes from."""

    topic: str
    case: Json
    expected: Any
    got: Any

    @property
    def differences(self) -> dict[str, Difference]:
        """Expected and got by path, for each leaf that differs; list indices are part of the path."""
        return dict(_differences("", self.expected, self.got))

    @property
    def objects(self) -> list[Json]:
        """Every object of the case, in its first and its later states."""
        later = [step["object"] for step in self.case.get("steps", ()) if "object" in step]
        others = [self.case.get("owner"), self.case.get("pod"), *self.case.get("ownerChain", ())]
        return [found for found in (*self.case.get("objects", ()), *later, *others) if found]

    def of_kind(self, *kinds: str) -> list[Json]:
        return [found for found in self.objects if found.get("kind") in kinds]

    @property
    def pods(self) -> list[Json]:
        return [*self.of_kind("Pod"), *filter(None, [self.case.get("pod")])]

    def said(self, key: str) -> list[str]:
        """What objects say under a label or an annotation."""
        metas = [found.get("metadata") or {} for found in self.objects]
        found = [(meta.get(part) or {}).get(key) for meta in metas for part in ("labels", "annotations")]
        return [value for value in found if value is not None]

    @property
    def is_refused_only_upstream(self) -> bool:
        """Upstream refuses what we group."""
        return any(expected is True and got is False for expected, got in self._errors)

    @property
    def is_refused_only_here(self) -> bool:
        return any(expected is False and got is True for expected, got in self._errors)

    @property
    def _errors(self) -> list[Difference]:
        return [pair for path, pair in self.differences.items() if path.endswith("error")]

    def differs_only_at(self, *endings: str) -> bool:
        """Every difference is in one of these places, wherever in the tree they are."""
        return all(any(f".{ending}" in path for ending in endings) for path in self.differences)


@dataclass(frozen=True, slots=True)
class Rule:
    """`holds` says whether a mismatch is this deviation; `reason` says what is better about it."""

    name: str
    reason: str
    holds: Callable[[Mismatch], bool]


def explain(mismatch: Mismatch, *, rules: Mapping[str, tuple[Rule, ...]] | None = None) -> str:
    """The name and reason of the rule that covers the mismatch, or nothing."""
    for rule in (RULES if rules is None else rules).get(mismatch.topic, ()):
        if rule.holds(mismatch):
            return f"{rule.name}: {rule.reason}"
    return ""


def _differences(path: str, expected: Any, got: Any) -> Iterator[tuple[str, Difference]]:
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted({*expected, *got}, key=str):
            yield from _differences(f"{path}.{key}", expected.get(key), got.get(key))
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for place, pair in enumerate(zip(expected, got, strict=True)):
            yield from _differences(f"{path}.{place}", *pair)
    elif expected != got:
        yield path, (expected, got)


def dig(tree: Any, *path: str) -> Any:
    for name in path:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


# PodGroup and LeaderWorkerSet admission. Expected and got are lists of messages, or one joined message.


def _refuses_both_minimums(m: Mismatch) -> bool:
    """What upstream says beyond us is only that a `minMember` stands above children; it may stop at that."""
    texts = ("are mutually exclusive", "minMember cannot be set on a mid-level SubGroup")
    (structure, minimums), (also, others) = m.expected, m.got
    if any(texts[0] in text for text in structure):
        return True
    left = [text for text in (*structure, *minimums) if not any(part in text for part in texts)]
    return left == [*also, *others]


def _shows_thousandths(m: Mismatch) -> bool:
    """The texts differ only in amounts that are a thousand times ours."""
    return all(
        re.sub(r"\b(\d+)000\b", r"\1", str(expected)) == str(got) for expected, got in m.differences.values()
    )


def _leaves_no_room_for_pods(m: Mismatch) -> bool:
    return m.expected == "" and " its last pod would be named " in str(m.got)


def _leaves_rules_unchecked(m: Mismatch) -> bool:
    note = (
        ", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid;"
    )
    found, _, rest = str(m.got).partition(note)
    return bool(rest) and found.removeprefix("[") == str(m.expected).removeprefix("[").removesuffix("]")


def _prints_floats(m: Mismatch) -> bool:
    """Numbers such as 1.000001e+06 on one side, 1000001 on the other."""
    number = re.compile(r"\d+\.?\d*e\+\d+")
    return bool(number.sub(lambda found: str(int(float(found[0]))), m.expected) == m.got)


def _has_no_patch(m: Mismatch) -> bool:
    return m.got["ok"] is True and "patch" not in m.case["input"].get("role", {"patch": None})


def _is_instance_set(m: Mismatch) -> bool:
    return m.got["ok"] is True and dig(m.case, "input", "role", "workloadKind") == "InstanceSet"


def _is_null_subdomain(m: Mismatch) -> bool:
    return m.got == "" and str(m.expected).endswith("cannot set subdomainPolicy as null")


def _runs_on_another_kind(m: Mismatch) -> bool:
    return bool(m.expected.get("kind") != "LeaderWorkerSet")


def _is_paused(mismatch: Mismatch) -> bool:
    given = mismatch.case["input"]
    known = {given["currentRevision"], given["updateRevision"]}
    return bool(given["paused"]) and any(one["revision"] not in known for one in given["instances"])


def _was_behind(mismatch: Mismatch) -> bool:
    given = mismatch.case["input"]
    before = given.get("priorUpdateRevision"), given.get("priorUpdatedReplicas")
    return mismatch.got["advance"] and before != (given["updateRevision"], given["replicas"])


def _leader_has_number(m: Mismatch) -> bool:
    leader: str = m.got["name"]
    return bool(m.expected == {"name": f"{leader}-0"})


def _contradicts_itself(m: Mismatch) -> bool:
    """Domains of one name, or room that is not the sum of the room below; `got` are the domains that are drawn."""
    ids = [one["id"] for one in m.got]
    sums = {
        one["id"]: [
            below["allocatable_pods"] for below in m.got if below["id"].partition(".")[2] == one["id"]
        ]
        for one in m.got
    }
    rooms = {one["id"]: one["allocatable_pods"] for one in m.got}
    return len(set(ids)) < len(ids) or any(sum(parts) != rooms[name] for name, parts in sums.items() if parts)


ADMISSION_RULES: dict[str, tuple[Rule, ...]] = {
    "job_allocatable_domains": (
        Rule(
            "impossible drawing",
            "domains of one name, or with other room than what is below them, are no cluster to place a gang in",
            _contradicts_itself,
        ),
    ),
    "job_errors": (
        Rule(
            "units",
            "amounts of any resource are shown as they are written in a pod, not in thousandths",
            _shows_thousandths,
        ),
    ),
    "minimal_job": (
        Rule(
            "every gang is tried",
            "a gang that may fit where the refused one does not is tried, whatever their sums",
            lambda m: m.got and not m.expected,
        ),
    ),
    "podgroup_admission": (
        Rule(
            "both minimums",
            "minMember on a group with children counts the pods below it, beside minSubGroup too",
            _refuses_both_minimums,
        ),
    ),
    "lws_validation": (
        Rule(
            "room for pods",
            "a name is refused if the names of its pods would be no host names",
            _leaves_no_room_for_pods,
        ),
        Rule("no null policy", "null takes the default, so that it never gets here", _is_null_subdomain),
    ),
    "rbg_validate_role_templates": (
        Rule("no patch needed", "a template reference without a patch takes it as it is", _has_no_patch),
        Rule("one engine", "the same engine runs every role, so templates work for each", _is_instance_set),
    ),
    "lws_schema": (
        Rule(
            "rules in the schema",
            "our schema has rules of its own, and says so where it could not ask them",
            _leaves_rules_unchecked,
        ),
        Rule("whole numbers", "numbers are written out, as kube-apiserver 1.37 does", _prints_floats),
    ),
    "lws_crashes": (
        Rule(
            "no nulls",
            "a field that misses takes the default of the schema before it is read",
            lambda m: bool(m.expected == "refused"),
        ),
    ),
}

ROLE_RULES: dict[str, tuple[Rule, ...]] = {
    "rbg_workload_of_role": (
        Rule("one engine", "a role's instances are groups of a LeaderWorkerSet", _runs_on_another_kind),
    ),
    "rbg_validate_workload_types_switch_off": (
        Rule("no types", "no annotation chooses another engine, so none is refused", lambda m: m.got["ok"]),
    ),
    "rbg_surge_window": (
        Rule(
            "paused is paused",
            "while paused every instance stays, also one of a revision in between",
            _is_paused,
        ),
    ),
    "rbg_advance_current_revision": (
        Rule("no memory", "what exists says that a rollout is over, whatever was noted before", _was_behind),
    ),
    "rbg_pod_name": (Rule("names of leaders", "a leader is named after its instance", _leader_has_number),),
}

RULES: dict[str, tuple[Rule, ...]] = {**ADMISSION_RULES, **ROLE_RULES}
