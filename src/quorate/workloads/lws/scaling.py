"""Which groups a set has, by index, and in which order they stand for a rollout.

A set of n groups has those from 0 to n - 1, and when it shrinks the highest go. With the annotation
`quorate.dev/scale-down: unready-first` the sick ones go first, so that the others keep their index; which ones
remain is written into `quorate.dev/groups` before anything is deleted.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from quorate.api import labels
from quorate.api.lws import LeaderWorkerSet
from quorate.workloads.lws.groups import Group

UNREADY_FIRST = "unready-first"
_RANGES = re.compile(r"\d{1,7}(-\d{1,7})?(,\d{1,7}(-\d{1,7})?)*")


@dataclass(frozen=True)
class Line:
    """Places of a rollout: `wanted` groups, then all others that exist; `note` is the annotation to write."""

    wanted: Sequence[int]
    others: Sequence[int]
    note: str | None

    @cached_property
    def indices(self) -> Sequence[int]:
        return [*self.wanted, *self.others]

    def index_at(self, place: int) -> int:
        """The group at a place; beyond the last comes what no group has yet."""
        known = self.indices
        return known[place] if place < len(known) else self._beyond + place - len(known)

    @cached_property
    def _beyond(self) -> int:
        return max(self.indices, default=-1) + 1


def line_of(item: LeaderWorkerSet, groups: Mapping[int, Group]) -> Line:
    is_picky = item.metadata.annotation(labels.SCALE_DOWN) == UNREADY_FIRST
    kept = parsed(item.metadata.annotation(labels.WANTED_GROUPS))
    wanted = _wanted(item.spec.replicas, kept, groups, is_picky)
    is_plain = not is_picky and list(wanted) == list(range(item.spec.replicas))
    others = sorted(set(groups) - set(wanted))
    return Line(wanted, others, None if is_plain else written(wanted))


def _wanted(
    count: int,
    kept: Sequence[int],
    groups: Mapping[int, Group],
    is_picky: bool,  # noqa: FBT001 - a fact
) -> Sequence[int]:
    if not kept:
        return range(count)
    if count > len(kept):
        return sorted([*kept, *_free(kept, count - len(kept))])
    order = sorted(kept, key=lambda index: (_health(groups.get(index)) if is_picky else 0, -index))
    return sorted(order[len(kept) - count :])


def _health(group: Group | None) -> int:
    if group is None or not group.exists or group.is_leaving:
        return 0
    return 2 if group.is_ready else 1


def _free(taken: Collection[int], count: int) -> Iterator[int]:
    index = 0
    while count:
        if index not in taken:
            yield index
            count -= 1
        index += 1


def parsed(text: str) -> list[int]:
    """The indices in `0,2-4`; none for a text that is not of that form."""
    if not _RANGES.fullmatch(text):
        return []
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return sorted(found)


def written(indices: Sequence[int]) -> str:
    """Indices in order as `0,2-4`."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
