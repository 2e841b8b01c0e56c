"""Restarts of instances."""

import msgspec
import pytest

from quorate.api.core import Pod
from quorate.api.lws import LeaderWorkerSet
from quorate.workloads.rbg.restart import NONE, RECREATE_INSTANCE, effective_type, outlived


def test_the_new_field_decides_before_the_old_one_and_the_pattern_last() -> None:
    assert effective_type("standalone", RECREATE_INSTANCE, NONE) == RECREATE_INSTANCE
    assert effective_type("leaderWorker", "", NONE) == NONE
    assert [effective_type(pattern) for pattern in ("standalone", "leaderWorker", "customComponents")] == [
        NONE,
        RECREATE_INSTANCE,
        RECREATE_INSTANCE,
    ]


@pytest.mark.parametrize(
    ("made", "leaving", "goes"),
    [("02:00:09", None, True), ("02:00:10", None, False), ("02:00:09", "x", False)],
)
def test_a_group_restarts_by_its_older_pods(made: str, leaving: str | None, goes: bool) -> None:  # noqa: FBT001
    restarts = [{"group": 0, "count": 1, "last": f"2026-11-19T02:00:{second}Z"} for second in ("05", "10")]
    sets = {"g-a": msgspec.convert({"status": {"restarts": restarts}}, LeaderWorkerSet)}
    metadata = {"name": "g-b-0", "creationTimestamp": f"2026-11-19T{made}Z", "deletionTimestamp": leaving}
    pods = {"g-b": [msgspec.convert({"metadata": metadata}, Pod)]}
    assert [change.target.name for change in outlived(sets, pods)] == (["g-b-0"] if goes else [])
    assert not list(outlived({"g-a": LeaderWorkerSet()}, pods))
