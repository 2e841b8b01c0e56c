"""What became of each change of a plan, as data: the writer returns it, controllers re-plan from it."""

from enum import StrEnum

import msgspec

from quorate.kube.errors import (
    ApiError,
    BudgetExhausted,
    Conflict,
    ConnectionLost,
    Gone,
    Invalid,
    KubeError,
    NotFound,
    ServerFailed,
    TooManyRequests,
)
from quorate.plan import Change


class Outcome(StrEnum):
    DONE = "done"
    CONFLICT = "conflict"  # the object is not what the plan saw: read again, plan again
    GONE = "gone"  # the object does not exist (any more): plan again without it
    REFUSED_BY_BUDGET = (
        "refused-by-budget"  # a PodDisruptionBudget protects the pod now: choose another or wait
    )
    REFUSED = "refused"  # the server will not do this however often it is asked
    FAILED = "failed"  # it surely did not happen (overload, no connection): try again later
    UNKNOWN = "unknown"  # it may have happened (connection lost, server error): wait for what the watch shows
    SKIPPED = "skipped"  # not tried, because an earlier change to the same object did not happen


class Written(msgspec.Struct, frozen=True):
    """One change and its outcome; `message` is the server's own text where it said no."""

    change: Change
    outcome: Outcome
    message: str = ""


class Result(msgspec.Struct, frozen=True):
    """The outcomes in the order of the plan."""

    written: tuple[Written, ...] = ()

    @property
    def is_done(self) -> bool:
        return all(one.outcome is Outcome.DONE for one in self.written)

    @property
    def unmet(self) -> tuple[Written, ...]:
        return tuple(one for one in self.written if one.outcome is not Outcome.DONE)

    def __str__(self) -> str:
        counts: dict[str, int] = {}
        for one in self.written:
            counts[one.outcome] = counts.get(one.outcome, 0) + 1
        return ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing to write"


def outcome_of(error: KubeError) -> Outcome:  # noqa: PLR0911 - a table, one line a cause
    match error:
        case NotFound() | Gone():
            return Outcome.GONE
        case Conflict():
            return Outcome.CONFLICT
        case Invalid() if any(cause.field == "metadata.uid" for cause in error.status.causes):
            return Outcome.CONFLICT  # how a patch learns that the name belongs to another object now
        case BudgetExhausted():
            return Outcome.REFUSED_BY_BUDGET
        case ServerFailed() | ConnectionLost():
            return Outcome.UNKNOWN
        case TooManyRequests():
            return Outcome.FAILED
        case ApiError():
            return Outcome.REFUSED
        case _:
            return Outcome.FAILED
