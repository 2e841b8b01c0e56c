"""Where Quorate differs from the expected outcome of a case on purpose: rules with reasons.

A rule looks at what a case contains and at what was expected and got, never at its id, so that it means the
same for cases not seen here. Adapters call `explain` with a mismatch and report the first rule that holds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One case whose outcome differs from what it expects; `topic` is the table it comes from."""

    topic: str
    case: Json
    expected: Any
    got: Any


@dataclass(frozen=True, slots=True)
class Rule:
    """`holds` says whether a mismatch is this deviation; `reason` says what is better about it."""

    name: str
    reason: str
    holds: Callable[[Mismatch], bool]


def _refuses_both_minimums(mismatch: Mismatch) -> bool:
    """Upstream refuses a root or an inner group because of a `minMember`, which counts descendants here."""
    if mismatch.topic != "podgroup_admission":
        return False
    structural, minimums = mismatch.expected
    refused = ("are mutually exclusive", "minMember cannot be set on a mid-level SubGroup")
    return any(text in message for message in (*structural, *minimums) for text in refused)


RULES: tuple[Rule, ...] = (
    Rule(
        "both minimums",
        "minMember on a group with children counts the pods below it and may stand beside minSubGroup",
        _refuses_both_minimums,
    ),
)


def explain(mismatch: Mismatch) -> str:
    """The name and reason of the rule that covers the mismatch, or nothing."""
    for rule in RULES:
        if rule.holds(mismatch):
            return f"{rule.name}: {rule.reason}"
    return ""
