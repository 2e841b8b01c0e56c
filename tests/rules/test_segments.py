from quorate.rules.segments import sub_group_count, sub_group_index


def indexes(size: int, sub_group_size: int, *, leader_excluded: bool = False) -> list[int | None]:
    return [
        sub_group_index(worker, size, sub_group_size, leader_excluded=leader_excluded)
        for worker in range(size)
    ]


def test_a_group_is_cut_evenly() -> None:
    assert indexes(4, 2) == [0, 0, 1, 1]


def test_the_leader_is_one_more_member_of_the_first_sub_group() -> None:
    assert indexes(5, 2) == [0, 0, 0, 1, 1]


def test_an_excluded_leader_is_in_none() -> None:
    assert indexes(5, 2, leader_excluded=True) == [None, 0, 0, 1, 1]


def test_excluded_sub_groups_of_one_number_from_one() -> None:
    assert indexes(3, 1, leader_excluded=True) == [None, 1, 2]


def test_sub_groups_are_counted() -> None:
    assert [sub_group_count(4, 2), sub_group_count(5, 2), sub_group_count(3, 1)] == [2, 2, 3]
