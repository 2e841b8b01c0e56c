"""Groupers of other packages: one function a kind, from a `Subject` to a `Shape`.

A function that fails holds up the pods of its kind only.
"""

from quorate.grouping.errors import GroupingError, MalformedError
from quorate.grouping.subject import Extensions, Rules, Shape, Subject


def guarded(function: Rules, name: str) -> Rules:
    """The function, with every failure of it as a refusal that names it."""

    def rules(subject: Subject) -> Shape:
        try:
            shape = function(subject)
        except GroupingError:
            raise
        except Exception as error:  # not our code: whatever it raises is its own failure
            raise MalformedError(
                f"the grouper of {name} failed: {type(error).__name__}: {error}; report it to its authors"
            ) from error
        if not isinstance(shape, Shape):
            raise MalformedError(
                f"the grouper of {name} returned {type(shape).__name__}, not a Shape; report it to its authors"
            )
        return shape

    return rules


def joined(*extensions: Extensions) -> Extensions:
    """All of them; where two know a kind, the later one wins."""
    kinds: dict[tuple[str, str], Rules] = {}
    wrappers: frozenset[tuple[str, str]] = frozenset()
    for each in extensions:
        kinds |= each.kinds
        wrappers |= each.wrappers
    return Extensions(kinds, wrappers)
