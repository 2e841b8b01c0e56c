"""In which order roles start: levels of which each needs only what stands in those before it."""

from collections.abc import Iterator, Mapping, Sequence

Needs = Mapping[str, Sequence[str]]


class DependencyError(ValueError):
    """Roles cannot be ordered."""

    def __init__(self, role: str, message: str) -> None:
        super().__init__(message)
        self.role = role


def levels(needs: Needs) -> list[list[str]]:
    """Names sorted inside a level; a role that needs an unknown one, or itself in the end, is an error."""
    for role in sorted(needs):
        unknown = next((name for name in needs[role] if name not in needs), None)
        if unknown is not None:
            raise DependencyError(role, f"role [{role}] with dependency role [{unknown}] not found in rbg")
    return list(_levels(needs))


def _levels(needs: Needs) -> Iterator[list[str]]:
    started: set[str] = set()
    while len(started) < len(needs):
        ready = sorted(role for role in needs if role not in started and started.issuperset(needs[role]))
        if not ready:
            role = _in_circle(needs, started)
            raise DependencyError(role, f"cycle detected for role '{role}'")
        started.update(ready)
        yield ready


def _in_circle(needs: Needs, started: set[str]) -> str:
    """A role that needs itself in the end; every role left over needs another one that is left over."""
    seen: set[str] = set()
    role = min(name for name in needs if name not in started)
    while role not in seen:
        seen.add(role)
        role = min(name for name in needs[role] if name not in started)
    return role
