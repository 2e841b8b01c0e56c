"""Garbage collection by owner references: what becomes of a dependent, and of an owner that waits."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from quorate.api.meta import Json
from quorate.workloads.builtin.outcome import is_deleting

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"


class Fate(NamedTuple):
    """Delete the dependent with this propagation, or let it lose these owners, or (both empty) leave it."""

    propagation: str = ""
    lost_owners: frozenset[str] = frozenset()


def waits_for_dependents(item: Json) -> bool:
    return is_deleting(item) and FOREGROUND in (item["metadata"].get("finalizers") or ())


def orphans_dependents(item: Json) -> bool:
    return is_deleting(item) and ORPHAN in (item["metadata"].get("finalizers") or ())


def fate(item: Json, owner_of: Callable[[Json], Json | None], *, has_dependents: bool) -> Fate:
    """`owner_of` gives the live object behind a reference, `None` if its uid is gone."""
    references = item["metadata"].get("ownerReferences") or ()
    if not references:
        return Fate()
    gone, waiting, solid = set(), set(), 0
    for reference in references:
        owner = owner_of(reference)
        if owner is None:
            gone.add(reference["uid"])
        elif waits_for_dependents(owner) and reference.get("blockOwnerDeletion"):
            waiting.add(reference["uid"])
        else:
            solid += 1
    if solid:
        return Fate(lost_owners=frozenset(gone | waiting))
    if waiting and has_dependents:
        return Fate("Foreground")
    return Fate(_propagation(item))


def _propagation(item: Json) -> str:
    """A deletion that was asked for already keeps its way."""
    finalizers = item["metadata"].get("finalizers") or ()
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"


def blocks(item: Json, owner_uid: str) -> bool:
    """Whether a dependent keeps its owner from going in a foreground deletion."""
    return any(
        reference["uid"] == owner_uid and reference.get("blockOwnerDeletion")
        for reference in item["metadata"].get("ownerReferences") or ()
    )


def without_owners(item: Json, uids: frozenset[str]) -> list[Json] | None:
    kept = [owner for owner in item["metadata"].get("ownerReferences") or () if owner["uid"] not in uids]
    return kept or None


def without_finalizer(item: Json, name: str) -> Sequence[str] | None:
    return [held for held in item["metadata"].get("finalizers") or () if held != name] or None
