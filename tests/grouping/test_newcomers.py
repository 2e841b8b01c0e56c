"""How a pod is labelled at admission: what the grouper would write, or nothing."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from bench.grouping import world
from quorate.api import labels
from quorate.api.core import Pod
from quorate.api.meta import Json
from quorate.api.podgroup import PodGroup, PodGroupSpec
from quorate.grouping.grouper import group
from quorate.grouping.newcomers import membership
from quorate.grouping.registry import TABLE
from quorate.grouping.subject import Extensions, Settings, Shape, Subject, plain
from quorate.grouping.writes import member_changes, plan
from quorate.plan import Apply
from tests.fakes.grouped import context, only_gang, pod, thing

JOB = thing("batch/v1", "Job", "train")
GANG: Json = {"annotations": {labels.POD_GROUP_NAME: f"pg-train-{JOB['metadata']['uid']}"}}


def newcomer(owner: Json | None = None, name: str = "", **fields: Any) -> Pod:
    """A pod as an API server shows it to admission: without a uid, and with a name to come."""
    made = pod(name or "any", owner, **fields)
    nameless = {"name": name, "generate_name": "" if name else "any-", "uid": ""}
    return msgspec.structs.replace(made, metadata=msgspec.structs.replace(made.metadata, **nameless))


def labelled(given: Pod, *objects: Json, settings: Settings | None = None) -> Json:
    return membership(given, context(*objects, settings=settings), no_group)


def no_group(namespace: str, name: str) -> None:
    """No PodGroup is there yet."""


def test_a_pod_of_a_job_has_its_gang_before_it_has_a_name() -> None:
    assert labelled(newcomer(JOB), JOB) == GANG


def test_a_pod_of_a_set_with_groups_has_its_group_too() -> None:
    owner = thing(
        "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "lws", spec={"leaderWorkerTemplate": {"size": 3}}
    )
    own = {labels.LWS_GROUP_INDEX: "1", labels.LWS_WORKER_INDEX: "2"}
    found = labelled(newcomer(owner, "lws-1-2", labels=own), owner)
    assert found["annotations"][labels.POD_GROUP_NAME].endswith("-group-1")
    assert found["labels"] == {labels.SUB_GROUP_NAME: "workers"}


def test_what_is_there_is_not_said_again_and_what_is_wrong_is_put_right() -> None:
    assert labelled(newcomer(JOB, **GANG), JOB) == {}
    stale = newcomer(
        JOB, annotations={labels.POD_GROUP_NAME: "other"}, labels={labels.SUB_GROUP_NAME: "other"}
    )
    assert labelled(stale, JOB) == {**GANG, "labels": {labels.SUB_GROUP_NAME: None}}


def test_a_pod_does_not_join_while_its_gang_has_the_minimum_of_before() -> None:
    asked = thing("batch/v1", "Job", "train", annotations={labels.MIN_MEMBER: "8"})
    for has, found in ((4, {}), (8, GANG)):
        there = PodGroup(spec=PodGroupSpec(min_member=has))
        assert membership(newcomer(asked), context(asked), lambda *_, it=there: it) == found


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet"])
def test_a_gang_that_is_called_after_its_pod_waits_for_the_pod(kind: str) -> None:
    owner = thing("apps/v1", kind, "web")
    assert labelled(newcomer(owner), owner) == {}
    assert labelled(newcomer(owner, "web-0"), owner) == {}


def test_a_pod_without_owners_is_left_alone_as_a_label_would_make_it_its_users() -> None:
    assert labelled(newcomer(name="bare")) == {}
    spark = {"spark-app-name": "pi", "spark-app-selector": "spark-1"}
    assert labelled(newcomer(name="driver", labels=spark)) == {}


def test_a_part_of_a_name_to_come_counts_as_far_as_it_is_known() -> None:
    owner = thing("run.ai/v1", "RunaiJob", "job")
    given = newcomer(owner)
    given.metadata.generate_name = "job-0-"
    assert labelled(given, owner)["annotations"][labels.POD_GROUP_NAME].startswith("pg-job-0-u")


def test_a_plugin_that_asks_for_the_name_or_the_uid_waits_for_it() -> None:
    foo = thing("example.com/v1", "Foo", "foo")

    def by_name(subject: Subject) -> Shape:
        return replace(plain(subject), name=f"pg-{subject.pod.metadata.name}")

    settings = Settings(extensions=Extensions({("example.com", "Foo"): by_name}))
    assert labelled(newcomer(foo), foo, settings=settings) == {}
    assert labelled(newcomer(foo, "a"), foo, settings=settings) == {
        "annotations": {labels.POD_GROUP_NAME: "pg-a"}
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"spec": {"schedulerName": "default-scheduler"}},
        {"annotations": {labels.SKIP_POD_GROUPER: "true"}},
    ],
)
def test_pods_that_the_grouper_leaves_alone_get_no_labels(fields: Json) -> None:
    assert labelled(newcomer(JOB, **fields), JOB) == {}


def test_what_the_grouper_refuses_is_left_to_it() -> None:
    wrong = thing("batch/v1", "Job", "train", annotations={labels.MIN_MEMBER: "many"})
    assert labelled(newcomer(wrong), wrong) == {}
    assert labelled(newcomer(JOB)) == {}  # the Job does not exist


def test_the_grouper_labels_nobody_of_whole_workloads_whose_pods_were_labelled() -> None:
    for known, pods in world(40, 800):
        members = [there(given, membership(arriving(given), known, no_group)) for given in pods]
        assert all(one.metadata.annotation(labels.POD_GROUP_NAME) for one in members)
        changes = plan(group(members, known), {}, known.settings).changes
        assert all(isinstance(one, Apply) for one in changes), changes


def arriving(given: Pod) -> Pod:
    """The pod before it was created; its name, but for what stands before the last dash, is not there yet."""
    meta = msgspec.structs.replace(
        given.metadata, uid="", name="", generate_name=f"{given.metadata.name.rpartition('-')[0]}-"
    )
    return msgspec.structs.replace(given, metadata=meta)


def there(given: Pod, patch: Json) -> Pod:
    body = msgspec.to_builtins(given)
    for name, said in patch.items():
        body["metadata"][name] = {**body["metadata"].get(name, {}), **said}
    return msgspec.convert(body, Pod)


@pytest.mark.parametrize(("api", "kind"), sorted(TABLE))
def test_of_no_kind_the_grouper_finds_a_label_to_change(api: str, kind: str) -> None:
    """Also where an object of the kind is as empty as can be, and whatever the pod will be called."""
    owner = thing(f"{api}/v1", kind, "o")
    given = newcomer(owner, labels={labels.LWS_GROUP_INDEX: "0"})
    found = labelled(given, owner)
    if not found:
        return
    member = there(pod("any-x7k2p", owner, labels=given.metadata.labels), found)
    assert list(member_changes(only_gang([member], owner))) == []
