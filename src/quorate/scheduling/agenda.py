"""The vocabulary of a placement search: goals still to meet, and the draft of what was put where.

`placement` expands goals, `growth` makes the first ones, `decide` commits the draft that won.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from quorate.scheduling.snapshot import NONE, Ints
from quorate.scheduling.topology import ANYWHERE, Place


@dataclass(frozen=True, slots=True)
class Start:
    """Bring a group to its minimum, in a domain of its own choice inside a place.

    `above` are groups over it whose next member is not bound to one domain: they choose first, outermost first.
    """

    group: int
    place: Place = ANYWHERE
    above: tuple[int, ...] = ()
    toward: int = NONE  # level whose domains should be few, from a group above


@dataclass(frozen=True, slots=True)
class Inside:
    """Bring a group to its minimum in exactly this place."""

    group: int
    place: Place
    toward: int = NONE  # level whose domains should be few


@dataclass(frozen=True, slots=True)
class Choose:
    """Satisfy this many more of the children."""

    rest: tuple[int, ...]
    missing: int
    place: Place
    toward: int = NONE


@dataclass(frozen=True, slots=True)
class Reach:
    """Add members below a group until its own `minMember` holds; `closed` units are decided."""

    group: int
    place: Place
    closed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Add:
    """Add pods of any shape to a leaf."""

    leaf: int
    count: int
    place: Place
    toward: int = NONE
    above: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Put:
    """Put pods of one shape on nodes."""

    leaf: int
    shape: int
    count: int
    place: Place
    toward: int = NONE


Goal = Start | Inside | Choose | Reach | Add | Put
Agenda = tuple[Goal, "Agenda"] | None


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Pods of one leaf and shape on nodes: how many on each."""

    leaf: int
    shape: int
    nodes: Ints
    counts: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """What a search has put where; `left` is what is free on the nodes that it touched."""

    touched: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # sorted
    left: Ints = field(default_factory=lambda: np.empty((0, 0), dtype=np.int64))  # [R, touched]
    added: Mapping[int, int] = field(default_factory=dict)  # members by group
    used: Mapping[tuple[int, int], int] = field(default_factory=dict)  # pods by leaf and shape
    places: Mapping[int, Place] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()


State = tuple[Agenda, Draft]


@dataclass(frozen=True, slots=True)
class Found:
    """How a search ended: the draft, or None and whether that is proven."""

    draft: Draft | None
    is_proven: bool
    states: int
