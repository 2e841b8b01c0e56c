"""What is written for a grouping, and what is left as people have it."""

from typing import Any

import msgspec

from quorate.api import labels
from quorate.api.meta import Json, OwnerReference
from quorate.api.podgroup import PodGroup
from quorate.grouping import writes
from quorate.grouping.grouper import Gang
from quorate.grouping.subject import Settings
from quorate.plan import Apply, Emit, Patch
from tests.fakes.grouped import grouped, only_gang, pod, thing

SETTINGS = Settings()


def job(**fields: Any) -> Json:
    return thing("batch/v1", "Job", "train", **fields)


def written(gang: Gang, found: PodGroup | None = None) -> Json:
    (change,) = writes.gang_changes(gang, found, SETTINGS)
    assert isinstance(change, Apply)
    return change.body


def put_back(gang: Gang, found: PodGroup) -> Json:
    """What is patched in the spec."""
    (change,) = writes.gang_changes(gang, found, SETTINGS)
    assert isinstance(change, Patch)
    found_spec: Json = change.body["spec"]
    return found_spec


def shown(gang: Gang, **spec: Any) -> PodGroup:
    body = written(gang)
    return msgspec.convert(body | {"spec": body["spec"] | spec}, PodGroup)


def test_an_edited_minimum_is_put_back() -> None:
    owner = job()
    gang = only_gang([pod("a", owner)], owner)
    assert put_back(gang, shown(gang, minMember=7)) == {"minMember": 1}


def test_a_field_that_only_others_set_goes() -> None:
    owner = job()
    gang = only_gang([pod("a", owner)], owner)
    added = shown(gang, preemptibility="non-preemptible", subGroups=[{"name": "mine", "minMember": 1}])
    assert put_back(gang, added) == {"preemptibility": None, "subGroups": None}


def test_a_level_that_others_add_goes_and_the_others_stay() -> None:
    owner = job(annotations={labels.TOPOLOGY: "t", labels.TOPOLOGY_REQUIRED: "rack"})
    gang = only_gang([pod("a", owner)], owner)
    more = {"topology": "t", "requiredTopologyLevel": "rack", "preferredTopologyLevel": "host"}
    correction = put_back(gang, shown(gang, topologyConstraint=more))
    assert correction == {"topologyConstraint": {"preferredTopologyLevel": None}}


def test_an_owner_that_others_add_is_left_alone() -> None:
    owner = job()
    gang = only_gang([pod("a", owner)], owner)
    found = shown(gang)
    more = msgspec.convert({"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}, OwnerReference)
    found.metadata.owner_references = [*(found.metadata.owner_references or ()), more]
    assert list(writes.gang_changes(gang, found, SETTINGS)) == []


def test_an_edited_queue_is_kept() -> None:
    owner = job(labels={labels.QUEUE: "q1"})
    gang = only_gang([pod("a", owner)], owner)
    assert list(writes.gang_changes(gang, shown(gang, queue="moved"), SETTINGS)) == []


def test_what_people_add_is_left_alone() -> None:
    owner = job()
    gang = only_gang([pod("a", owner)], owner)
    assert list(writes.gang_changes(gang, shown(gang, markUnschedulable=False), SETTINGS)) == []


def test_a_label_that_the_owner_lost_is_no_longer_applied() -> None:
    before, after = job(labels={"tier": "gold"}), job()
    found = shown(only_gang([pod("a", before)], before))
    assert "labels" not in written(only_gang([pod("a", after)], after), found)["metadata"]


def test_a_topology_set_by_people_is_kept() -> None:
    owner = job()
    gang = only_gang([pod("a", owner)], owner)
    constraint = {"topology": "t", "requiredTopologyLevel": "rack"}
    assert list(writes.gang_changes(gang, shown(gang, topologyConstraint=constraint), SETTINGS)) == []


def test_members_are_named_once() -> None:
    owner = job()
    gang = only_gang([pod("a", owner)], owner)
    (change,) = writes.member_changes(gang)
    assert isinstance(change, Patch)
    assert change.body == {"metadata": {"annotations": {labels.POD_GROUP_NAME: gang.name}}}
    named = only_gang([pod("a", owner, annotations={labels.POD_GROUP_NAME: gang.name})], owner)
    assert list(writes.member_changes(named)) == []


def test_a_plan_writes_gangs_before_members_and_tells_refusals() -> None:
    owner = job(annotations={labels.BATCH_MIN_MEMBER: "many"})
    plan = writes.plan(grouped([pod("a", owner), pod("b")], owner), {}, SETTINGS)
    assert [type(change) for change in plan.changes] == [Apply, Patch, Emit]
    told = plan.changes[-1]
    assert isinstance(told, Emit)
    assert (told.about.name, told.reason) == ("a", writes.REASON_REFUSED)
    assert labels.BATCH_MIN_MEMBER in told.message
