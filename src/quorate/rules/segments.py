"""Which sub-group a pod of a LeaderWorkerSet group is in; the controller and the grouper ask here.

With n pods in the group and k in a sub-group, worker w (the leader is 0) is in sub-group

    (w - 1) div k   if k divides n - 1 and not n: the leader is one more member of sub-group 0
    w div k         else
"""


def sub_group_index(
    worker: int, size: int, sub_group_size: int, *, leader_excluded: bool = False
) -> int | None:
    """None for a leader that is in no sub-group."""
    if worker == 0:
        return None if leader_excluded else 0
    if leads_extra(size, sub_group_size):
        return (worker - 1) // sub_group_size
    return worker // sub_group_size


def leads_extra(size: int, sub_group_size: int) -> bool:
    """Whether sub-groups are cut from the workers alone."""
    return (size - 1) % sub_group_size == 0 and size % sub_group_size != 0


def sub_group_count(size: int, sub_group_size: int) -> int:
    cut = size - 1 if leads_extra(size, sub_group_size) else size
    return cut // sub_group_size
