"""Whether cost grows no faster than the input times its logarithm, between two sizes of one scenario."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import log

from bench.measure import Measured
from bench.scenarios import GROWTH


@dataclass(frozen=True)
class Growth:
    small: str
    large: str
    times: float  # CPU time of the decision, large over small
    most: float

    @property
    def verdict(self) -> str:
        return "ok" if self.times <= self.most else "steep"

    def __str__(self) -> str:
        return f"{self.large}: {self.times:.1f} times {self.small}, at most {self.most:.1f}: {self.verdict}"


def growths(found: Iterable[Measured]) -> Iterator[Growth]:
    cpu = {one.name: one.cpu for one in found}
    for small, few, large, many in GROWTH:
        if small in cpu and large in cpu:
            yield Growth(small, large, cpu[large] / cpu[small], many * log(many) / (few * log(few)))
