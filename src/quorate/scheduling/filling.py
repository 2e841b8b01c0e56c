"""How many of k identical pods go on which node, given how many each node takes and how good it is.

`fill` answers in bulk: the same nodes, in the same order, as placing pod after pod on the best node would
give when packing. `splits` enumerates every other way, for the exact search on small clusters.
"""

from collections.abc import Iterator

import numpy as np

from quorate.scheduling.snapshot import Bools, Floats, Ints

SINGLE_PICKS = 4  # up to here, picking the best node again is cheaper than sorting


def fill(counts: Ints, scores: Floats, k: int) -> tuple[Ints, Ints] | None:
    """Nodes from the best down, each filled before the next, and how many on each; None if k do not fit."""
    ranked = np.where(counts > 0, scores, -np.inf)
    picked: list[int] = []
    rest = k
    while rest > 0 and len(picked) < SINGLE_PICKS:
        best = int(ranked.argmax())
        if not counts[best]:
            return None
        picked.append(best)
        rest -= int(counts[best])
        ranked[best] = -np.inf
    nodes = np.array(picked, dtype=np.int64)
    if rest > 0:
        nodes = np.concatenate([nodes, _best(ranked, rest)])
    taken = counts[nodes]
    before = np.cumsum(taken) - taken
    taken = np.clip(k - before, 0, taken)
    if int(taken.sum()) < k:
        return None
    return nodes[taken > 0], taken[taken > 0]


def even(counts: Ints, scores: Floats, k: int) -> tuple[Ints, Ints] | None:
    """Like `fill`, but nodes take turns: no node gets its j+1st pod while another has room for its jth."""
    if int(np.minimum(counts, k).sum()) < k:
        return None
    low, high = 0, k
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if int(np.minimum(counts, middle).sum()) >= k else (middle, high)
    taken = np.minimum(counts, low)
    open_nodes = np.flatnonzero(counts > low)
    order = open_nodes[np.argsort(-scores[open_nodes], kind="stable")][: k - int(taken.sum())]
    taken[order] += 1
    nodes = np.flatnonzero(taken)
    nodes = nodes[np.argsort(-scores[nodes], kind="stable")]
    return nodes, taken[nodes]


def splits(counts: Ints, order: Ints, twins: Bools, k: int) -> Iterator[tuple[Ints, Ints]]:
    """Every way to put k pods on the nodes of `order`, fullest first.

    `twins[i]` is True where node i of the order is exchangeable with the one before it: such nodes get no
    more than their predecessor, so that each distinct way comes once.
    """
    caps = np.minimum(counts[order], k).tolist()
    rooms = [*np.cumsum(caps[::-1])[::-1].tolist(), 0]
    same = twins.tolist()
    stack: list[tuple[int, int, tuple[int, ...]]] = [(0, k, ())]
    while stack:
        at, rest, given = stack.pop()
        if rest == 0:
            taken = np.array(given, dtype=np.int64)
            yield order[: len(given)][taken > 0], taken[taken > 0]
            continue
        if rooms[at] < rest:
            continue
        most = min(caps[at], rest, given[-1] if same[at] and given else rest)
        stack.extend((at + 1, rest - count, (*given, count)) for count in range(most + 1))


def _best(ranked: Floats, k: int) -> Ints:
    """The k best ranked nodes, best first, ties by index."""
    usable = np.flatnonzero(ranked > -np.inf)
    if len(usable) > 4 * k:
        bound = np.partition(ranked[usable], len(usable) - k)[len(usable) - k]
        usable = usable[ranked[usable] >= bound]
    best: Ints = usable[np.argsort(-ranked[usable], kind="stable")][:k]
    return best
