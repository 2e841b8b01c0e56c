from quorate.api.lws import LeaderWorkerSetSpec, RollingUpdateConfiguration, RolloutStrategy
from quorate.workloads.lws.rollout import Moves, Pace, Seen, decide, pace_of

OLD, NEW = Seen(exists=True, is_ready=True), Seen(exists=True, is_ready=True, is_updated=True)
SICK = Seen(exists=True, is_sick=True)
STARTING = Seen(exists=True)
GONE = Seen()


def test_percentages_of_unavailable_round_down_and_of_surge_up() -> None:
    rolling = RollingUpdateConfiguration(max_unavailable="25%", max_surge="25%")
    strategy = RolloutStrategy(rolling_update_configuration=rolling)
    assert pace_of(LeaderWorkerSetSpec(replicas=5, rollout_strategy=strategy)) == Pace(5, 1, 2)


def test_surge_is_never_more_than_there_are_groups() -> None:
    rolling = RollingUpdateConfiguration(max_surge=9)
    strategy = RolloutStrategy(rolling_update_configuration=rolling)
    assert pace_of(LeaderWorkerSetSpec(replicas=2, rollout_strategy=strategy)).surge == 2


def test_highest_group_goes_first_and_no_more_than_may_be_unavailable() -> None:
    assert decide(Pace(4, 2, 0), [OLD] * 4).remove == (3, 2)
    assert decide(Pace(4, 1, 0), [OLD, OLD, OLD, GONE]) == Moves(3, 4, make_new=(3,))


def test_single_group_with_surge_is_replaced_only_once_the_other_is_ready() -> None:
    pace = Pace(1, 0, 1)
    assert decide(pace, [OLD]) == Moves(1, 2, make_new=(1,))
    assert decide(pace, [OLD, Seen(exists=True, is_updated=True)]).remove == ()
    assert decide(pace, [OLD, NEW]).remove == (0,)
    assert decide(pace, [GONE, NEW]).make_new == (0,)
    assert decide(pace, [NEW, NEW]).remove == (1,)


def test_sick_groups_are_replaced_one_by_one_from_the_top() -> None:
    assert decide(Pace(3, 1, 0), [SICK] * 3).remove == (2,)
    assert decide(Pace(3, 1, 0), [SICK, SICK, NEW]).remove == (1,)


def test_sick_group_below_ready_ones_does_not_stop_the_rollout() -> None:
    pace = Pace(2, 0, 1)
    assert decide(pace, [STARTING, OLD, NEW]).remove == ()
    moves = decide(pace, [SICK, OLD, NEW])
    assert (moves.remove, moves.early) == ((0,), (0,))
    assert decide(pace, [Seen(is_early=True), OLD, NEW]).make_new == (0,)
    assert decide(pace, [GONE, OLD, NEW]).make_old == (0,)


def test_scaled_down_groups_go_at_once_down_to_the_surge() -> None:
    assert decide(Pace(1, 0, 1), [SICK, NEW, NEW, NEW]).remove == (3, 2, 0)


def test_nothing_rolls_while_paused() -> None:
    assert decide(Pace(3, 1, 1), [OLD] * 3, is_paused=True) == Moves(3, 3)
    assert decide(Pace(3, 1, 1), [OLD, GONE, NEW], is_paused=True).make_new == (1,)
    assert decide(Pace(3, 1, 1), [GONE, OLD, NEW], is_paused=True).make_old == (0,)
    assert decide(Pace(4, 1, 1), [OLD] * 3, is_paused=True).make_old == (3,)


def test_partition_keeps_lower_groups_as_they_are() -> None:
    pace = Pace(3, 1, 1, partition=2)
    assert decide(pace, [OLD, OLD, NEW]) == Moves(2, 3)
    assert decide(pace, [GONE, OLD, NEW]).make_old == (0,)
    assert decide(pace, [OLD, OLD, NEW, NEW]).remove == (3,)
