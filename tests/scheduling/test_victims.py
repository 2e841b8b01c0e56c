"""What a gang gives up next."""

from tests.fakes.clusters import Group
from tests.fakes.onegang import NODE, given_up, one_gang, trial_of


def replicas(*running: int) -> list[Group]:
    """Children `w-0`, `w-1`, ... of two members at least, of which one is enough."""
    leaves = [
        Group(f"w-{at}", min_member=2, members=count, running=(NODE,) * count)
        for at, count in enumerate(running)
    ]
    return [Group("", min_sub_group=1), *leaves]


def given(groups: list[Group]) -> dict[str, int]:
    return given_up(trial_of(one_gang(groups)))


def test_extras_go_before_optional_children_before_the_gang() -> None:
    assert given(replicas(3, 2)) == {"w-0": 1}
    assert given(replicas(2, 2)) == {"w-1": 2}
    assert given(replicas(2, 0)) == {"w-0": 2}
    assert given(replicas(0, 0)) == {}


def prefill_and_decode(prefills: int, decodes: int) -> list[Group]:
    leaves = [
        Group(
            f"{role}-{at}", parent=role, min_member=size, members=size, running=(NODE,) * size * (at < held)
        )
        for role, size, count, held in (("prefill", 8, 4, prefills), ("decode", 4, 2, decodes))
        for at in range(count)
    ]
    roles = [
        Group("prefill", min_member=24, min_sub_group=3),
        Group("decode", min_member=4, min_sub_group=1),
    ]
    return [Group("", min_member=28, min_sub_group=2), *roles, *leaves]


def test_the_grove_example_keeps_28_pods() -> None:
    trial = trial_of(one_gang(prefill_and_decode(4, 2), preemptibility="semi-preemptible"))
    assert given_up(trial) == {"decode-1": 4}
    trial = trial_of(one_gang(prefill_and_decode(3, 1), preemptibility="semi-preemptible"))
    assert given_up(trial) == {}
