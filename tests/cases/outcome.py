"""What running one case came to.

Adapters return it to the runner, which counts verdicts and writes `emitted` out for outside checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["passed", "failed", "deviating", "unsupported"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One verdict; `detail` says why it is not a pass, `emitted` what was decided."""

    verdict: Verdict
    detail: str = ""
    emitted: dict[str, Any] | None = None


def passed(emitted: dict[str, Any] | None = None) -> Outcome:
    """The case came out as expected."""
    return Outcome("passed", emitted=emitted)


def failed(detail: str, emitted: dict[str, Any] | None = None) -> Outcome:
    """The case came out otherwise; `detail` shows expected and got."""
    return Outcome("failed", detail, emitted)


def deviating(rule: str, emitted: dict[str, Any] | None = None) -> Outcome:
    """The case came out otherwise on purpose, by the named rule of `deviations`."""
    return Outcome("deviating", rule, emitted)


def unsupported(feature: str) -> Outcome:
    """The case needs a feature that does not exist yet."""
    return Outcome("unsupported", feature)
