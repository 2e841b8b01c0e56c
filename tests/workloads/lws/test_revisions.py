from typing import Any

import msgspec
import pytest

from quorate.api import labels
from quorate.api.lws import LeaderWorkerSet
from quorate.workloads.lws import revisions
from tests.fakes.lws_world import lws

Json = dict[str, Any]


def parsed(item: Json) -> LeaderWorkerSet:
    return msgspec.convert(item, LeaderWorkerSet)


def content(item: Json) -> Json:
    return revisions.content(parsed(item))


def merged(tree: Any, patch: Any) -> Any:
    """A JSON merge patch, applied."""
    if not isinstance(patch, dict):
        return patch
    base = dict(tree) if isinstance(tree, dict) else {}
    for name, value in patch.items():
        if value is None:
            base.pop(name, None)
        else:
            base[name] = merged(base.get(name), value)
    return base


def record(item: Json, number: int) -> Json:
    return revisions.recorded(parsed(item), content(item), number)


def test_a_changed_topology_is_a_new_revision() -> None:
    before = lws("llm", size=2)
    after = lws("llm", size=2, annotations={labels.LWS_EXCLUSIVE_TOPOLOGY: "rack"})
    assert revisions.key(content(before)) != revisions.key(content(after))
    assert not revisions.is_equal(content(before), content(after))


def test_what_does_not_make_pods_is_in_no_revision() -> None:
    before = lws("llm", size=2)
    after = lws("llm", size=2, replicas=9, annotations={"a": "b"}, startupPolicy="LeaderReady")
    assert revisions.key(content(before)) == revisions.key(content(after))


def test_what_was_recorded_before_a_field_had_its_default_is_equal() -> None:
    stored = content(lws("llm", size=1))
    del stored["spec"]["leaderWorkerTemplate"]["size"]
    assert revisions.is_equal(stored, content(lws("llm", size=1)))


def test_a_revision_is_named_by_set_key_and_number() -> None:
    body = record(lws("llm", size=2), 7)
    assert body["metadata"]["name"] == f"llm-{revisions.key_recorded(body)}-7"
    assert body["revision"] == 7


def test_a_long_name_is_cut_so_that_key_and_number_fit() -> None:
    assert len(revisions.name_of("a" * 250, "0123456789", 12)) <= 253


def test_numbers_go_up_from_the_highest() -> None:
    known = [record(lws("llm", size=size), number) for size, number in ((1, 4), (2, 2))]
    assert revisions.next_number(known) == 5
    assert revisions.next_number([]) == 1


def test_the_newest_equal_revision_is_found_again() -> None:
    known = [record(lws("llm", size=2), number) for number in (1, 3)] + [record(lws("llm", size=3), 2)]
    found = revisions.equal_among(known, content(lws("llm", size=2)))
    assert found is not None
    assert found["revision"] == 3
    assert revisions.equal_among(known, content(lws("llm", size=9))) is None


def test_unused_revisions_beyond_the_history_go_oldest_first() -> None:
    known = [record(lws("llm", size=size), size) for size in range(1, 6)]
    used = {revisions.key_recorded(known[0])}
    gone = revisions.disposable(known, used, limit=2)
    assert [revision["revision"] for revision in gone] == [2, 3]


@pytest.mark.parametrize(
    "now",
    [
        lws("llm", size=5, subGroupPolicy={"subGroupSize": 2}),
        lws("llm", size=2, leader_gpus=3),
        lws("llm", size=2, annotations={labels.LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY: "rack"}),
        lws("llm", size=2, volumeClaimTemplates=[{"metadata": {"name": "a"}}]),
    ],
)
def test_the_patch_of_a_roll_back_leaves_nothing_of_what_came_since(now: Json) -> None:
    before = lws("llm", size=2, annotations={labels.LWS_EXCLUSIVE_TOPOLOGY: "rack"}, restartPolicy="None")
    after = merged(now, revisions.restored(parsed(now), content(before)))
    assert revisions.content(parsed(after)) == content(before)


def test_nothing_is_patched_where_the_set_is_as_it_was() -> None:
    item = lws("llm", size=2, annotations={labels.LWS_EXCLUSIVE_TOPOLOGY: "rack"})
    assert revisions.restored(parsed(item), content(item)) == {}
