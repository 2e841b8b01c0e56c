import numpy as np

from quorate.scheduling.accounts import Accounts
from quorate.scheduling.fairness import Shares
from quorate.scheduling.order import GangKey, Ranking, Standing, Turns, Waiting
from quorate.scheduling.snapshot import NONE

UNLIMITED = float("inf")
# root: 0 with children 1 and 2; 3 stands alone.
LINEAGE = np.array([[0, NONE], [1, 0], [2, 0], [3, NONE]])


def books(quota: float = 4.0, fair: float = 8.0) -> tuple[Shares, Accounts]:
    rows = len(LINEAGE)
    shares = Shares(
        total=np.full(3, 16.0),
        quota=np.full((rows, 3), quota),
        limit=np.full((rows, 3), UNLIMITED),
        fair=np.full((rows, 3), fair),
        requested=np.zeros((rows, 3)),
    )
    return shares, Accounts(LINEAGE, np.zeros((rows, 3), int), np.zeros((rows, 3), int))


def waiting(gang: int, *, priority: int = 50, asks: float = 1.0) -> Waiting:
    key: GangKey = (-priority, Standing.BELOW, 0.0, gang)
    return Waiting(key, gang, (0.0, 0.0, asks))


def turns(priority: list[float] | None = None) -> tuple[Turns, Accounts]:
    shares, accounts = books()
    ranking = Ranking(shares, np.array(priority or [100.0] * 4), np.zeros(4))
    return Turns(ranking, accounts), accounts


def drawn(queues: Turns) -> list[int]:
    order = []
    while (entry := queues.pop()) is not None:
        order.append(entry.gang)
    return order


def test_higher_priority_gang_goes_first_inside_a_queue() -> None:
    queues, _ = turns()
    queues.push(1, waiting(0, priority=50))
    queues.push(1, waiting(1, priority=100))
    assert drawn(queues) == [1, 0]


def test_queue_of_higher_priority_goes_first() -> None:
    queues, _ = turns(priority=[100, 100, 100, 200])
    queues.push(1, waiting(0, priority=500))
    queues.push(3, waiting(1, priority=1))
    assert drawn(queues) == [1, 0]


def test_charged_queue_waits_for_its_sibling() -> None:
    queues, accounts = turns()
    for gang in (0, 1):
        queues.push(1, waiting(gang))
    for gang in (2, 3):
        queues.push(2, waiting(gang))
    order = []
    owner = {0: 1, 1: 1, 2: 2, 3: 2}
    while (entry := queues.pop()) is not None:
        order.append(entry.gang)
        accounts.charge(owner[entry.gang], np.array([0, 0, 1]))
        queues.refresh(owner[entry.gang])
    assert order == [0, 2, 1, 3]


def test_queue_that_would_go_over_quota_waits_for_one_that_stays_within() -> None:
    queues, _ = turns(priority=[200, 100, 100, 100])
    queues.push(1, waiting(0, asks=5.0))
    queues.push(3, waiting(1, asks=4.0))
    assert drawn(queues) == [1, 0]


def test_of_queues_with_equal_parts_the_smaller_goes_first_whatever_else_has_no_bound() -> None:
    shares, _ = books(quota=UNLIMITED)
    shares.quota[:, 2] = [8.0, 4.0, 2.0, 2.0]
    shares.fair[:, 2] = shares.quota[:, 2]
    ranking = Ranking(shares, np.full(4, 100.0), np.arange(4.0))
    assert ranking.key(2, (0, 0, 1), (0, 0, 1)) < ranking.key(1, (0, 0, 2), (0, 0, 2))


def test_nobody_waits() -> None:
    assert turns()[0].pop() is None
