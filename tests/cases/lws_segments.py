"""Facts about the sub-group that each pod of a LeaderWorkerSet group is labelled with."""

from typing import Any

from quorate.rules.segments import sub_group_index
from tests.cases.outcome import Outcome, failed, passed

Json = dict[str, Any]


def run(case: Json, file: Json) -> Outcome:
    del file
    index = sub_group_index(
        case["worker_index"],
        case["size"],
        case["sub_group_size"],
        leader_excluded=case.get("type") == "LeaderExcluded",
    )
    got = {"index": None if index is None else str(index), "labelled": index is not None}
    want = {"index": case["sub_group_index"], "labelled": case.get("has_sub_group_key", True)}
    return passed(got) if got == want else failed(f"expected {want}, got {got}", got)
