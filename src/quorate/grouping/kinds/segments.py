"""Segments: runs of workers of one size that should stand close together, each a group of its own."""

from collections.abc import Mapping
from dataclasses import dataclass

from quorate.api import labels
from quorate.api.podgroup import MAX_SUB_GROUPS, SubGroup, TopologyConstraint
from quorate.grouping.errors import MalformedError
from quorate.grouping.numbers import whole

MOST_SEGMENTS = MAX_SUB_GROUPS - 2  # beside the group of all workers and that of the masters


@dataclass(frozen=True, slots=True)
class Segments:
    """`workers` pods in segments of `size`, of which the first `needed` are required."""

    size: int
    workers: int
    needed: int
    constraint: TopologyConstraint | None

    @property
    def count(self) -> int:
        return -(-self.workers // self.size)

    def groups(self, parent: str) -> tuple[SubGroup, ...]:
        """The segments as groups `<parent>-0`, `<parent>-1`, … below the parent, and the parent itself."""
        if self.count > MOST_SEGMENTS:
            raise MalformedError(
                f"{self.workers} workers in segments of {self.size} make more than {MOST_SEGMENTS}"
            )
        leaves = tuple(
            SubGroup(
                name=f"{parent}-{index}",
                parent=parent,
                min_member=self._needed(index),
                topology_constraint=self.constraint,
            )
            for index in range(self.count)
        )
        return (SubGroup(name=parent, min_sub_group=self.count), *leaves)

    def _needed(self, index: int) -> int:
        begin = index * self.size
        return max(0, min(self.size, self.workers - begin, self.needed - begin))

    def of(self, worker: int, parent: str) -> str:
        """The segment that a worker belongs to."""
        index = worker // self.size
        if index >= self.count:
            raise MalformedError(f"worker {worker} is beyond the {self.workers} workers that have segments")
        return f"{parent}-{index}"


def segment_size(sources: tuple[Mapping[str, str], ...]) -> int | None:
    """The size that the first source with the annotation asks for."""
    text = next((source[labels.SEGMENT_SIZE] for source in sources if source.get(labels.SEGMENT_SIZE)), None)
    return None if text is None else whole(text, f"annotation {labels.SEGMENT_SIZE}", least=1)
