import msgspec
import pytest

from quorate.api.core import POD
from quorate.api.lws import GroupRestarts, LeaderWorkerSet
from quorate.api.timestamps import text
from quorate.plan import Delete
from quorate.workloads.backoff import Backoff
from quorate.workloads.lws.groups import Group
from quorate.workloads.lws.restart import BACKOFF, backoff_of, called, due
from tests.fakes.lws_set import NOW, World, manifest

ON_RESTART, AFTER_START, NONE = "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"


def settled(policy: str = ON_RESTART, **annotations: str) -> World:
    body = manifest(2, 3)
    body["spec"]["leaderWorkerTemplate"]["restartPolicy"] = policy
    body["metadata"]["annotations"] = {
        f"quorate.dev/{name.replace('_', '-')}": value for name, value in annotations.items()
    }
    made = World(body)
    made.settle()
    return made


def uids(made: World) -> dict[str, str]:
    return {pod.metadata.name: pod.metadata.uid for pod in made.all(POD)}


def recreated(made: World, before: dict[str, str]) -> set[str]:
    after = uids(made)
    return {name for name, uid in before.items() if after.get(name) != uid}


@pytest.mark.parametrize("pod", ["web-0", "web-0-2"])
def test_restarted_container_recreates_the_whole_group_at_once(pod: str) -> None:
    made = settled()
    before = uids(made)
    made.restart(pod)
    made.settle()
    assert recreated(made, before) == {"web-0", "web-0-1", "web-0-2"}
    assert "RecreateGroup" in made.events


def test_without_a_policy_a_worker_is_replaced_alone_and_a_leader_takes_its_workers() -> None:
    made = settled(NONE)
    before = uids(made)
    made.restart("web-0-1")
    made.delete("web-0-2")
    made.settle()
    assert recreated(made, before) == {"web-0-2"}
    before = uids(made)
    made.set_status("web-1", phase="Failed")
    made.settle()
    assert recreated(made, before) == {"web-1", "web-1-1", "web-1-2"}


@pytest.mark.parametrize("policy", [AFTER_START, NONE])
def test_leader_that_ended_before_its_workers_came_is_made_anew(policy: str) -> None:
    made = World(manifest(1, 3, startupPolicy="LeaderReady"))
    made.edit({"spec": {"leaderWorkerTemplate": {"restartPolicy": policy}}})
    made.step()
    made.set_status("web-0", phase="Failed")
    made.settle()
    assert made.names == ["web-0", "web-0-1", "web-0-2"]
    assert made.condition("Available") == "True"


def test_rollout_spares_ready_groups_in_the_pass_that_recreates_another() -> None:
    made = settled()
    made.edit({"spec": {"leaderWorkerTemplate": {"size": 2}}})
    made.restart("web-0-1")
    deleted = {change.target.name for change in made.step().changes if isinstance(change, Delete)}
    assert deleted == {"web-0", "web-0-1", "web-0-2"}


def test_group_that_is_still_starting_is_left_alone_after_start_only() -> None:
    made = settled(AFTER_START)
    before = uids(made)
    made.set_status("web-0-2", phase="Pending", conditions=None)
    made.restart("web-0-1")
    made.step()
    assert recreated(made, before) == set()
    made.settle()
    assert recreated(made, before) == {"web-0", "web-0-1", "web-0-2"}


def test_stale_worker_does_not_take_the_group_with_it_and_is_removed() -> None:
    made = settled()
    before = uids(made)
    labels = made.pod("web-0-1").metadata.labels
    assert labels is not None
    labels["leaderworkerset.sigs.k8s.io/template-revision-hash"] = "other"
    made.restart("web-0-1")
    made.settle()
    assert recreated(made, before) == {"web-0-1"}


def test_second_failure_waits_and_says_so_while_the_pods_stay() -> None:
    made = settled()
    made.restart("web-0-1")
    made.settle()
    before = uids(made)
    made.restart("web-0-1")
    made.step()
    assert recreated(made, before) == set()
    assert made.condition("Degraded") == "True"
    assert [(one["group"], one["count"]) for one in made.status["restarts"]] == [(0, 1)]
    made.now += BACKOFF.delay(1)
    made.settle()
    assert recreated(made, before) == {"web-0", "web-0-1", "web-0-2"}
    assert made.condition("Degraded") == "False"
    assert [(one["group"], one["count"]) for one in made.status["restarts"]] == [(0, 2)]


def test_budget_of_recreations_ends_them() -> None:
    made = settled(max_group_restarts="1")
    made.restart("web-1")
    made.settle()
    before = uids(made)
    made.restart("web-1")
    made.now += 100
    made.step()
    assert recreated(made, before) == set()
    message = next(one["message"] for one in made.status["conditions"] if one["type"] == "Degraded")
    assert message == "group 1 used up its budget of 1: a container of pod web-1 restarted"


def test_deleted_pods_are_no_failure_and_wait_for_nothing() -> None:
    made = settled()
    for _ in range(3):
        before = uids(made)
        made.delete("web-0-1")
        made.step()
        made.settle()
        assert recreated(made, before) == {"web-0", "web-0-1", "web-0-2"}
    assert "restarts" not in made.status


def test_worker_that_went_unseen_breaks_a_gang_that_started_whole() -> None:
    made = settled()
    for name in made.names:
        notes = made.pod(name).metadata.annotations
        assert notes is not None
        notes["pod-group-name"] = "gang"
    before = uids(made)
    del made.held[POD, "web-0-1"]
    made.settle()
    assert recreated(made, before) == {"web-0", "web-0-1", "web-0-2"}
    before = uids(made)  # these pods are in no gang: nobody knows whether they ever were whole
    del made.held[POD, "web-0-1"]
    made.settle()
    assert recreated(made, before) == {"web-0-1"}


def test_group_that_kept_going_or_was_updated_starts_anew() -> None:
    pods = {0: settled().pod("web-0")}
    revision = Group(0, pods).revision
    record = GroupRestarts(group=0, revision=revision, count=4, last=text(NOW))
    later = NOW + BACKOFF.window
    assert due(record, Group(0, pods), NOW) == NOW + BACKOFF.delay(4)
    assert due(record, Group(0, pods), later) == later
    other = GroupRestarts(group=0, revision="other", count=4, last=text(NOW))
    assert due(other, Group(0, pods), NOW) == NOW


def test_a_set_may_say_its_delays() -> None:
    def said(text: str) -> Backoff:
        notes = {"quorate.dev/restart-backoff": text}
        return backoff_of(msgspec.convert({"metadata": {"annotations": notes}}, LeaderWorkerSet))

    assert [said(text) for text in ("30/600", "", "fast")] == [Backoff(30, 600), BACKOFF, BACKOFF]


def test_delays_double_and_are_bounded() -> None:
    assert [BACKOFF.delay(count) for count in range(8)] == [0, 10, 20, 40, 80, 160, 300, 300]


def test_group_whose_leader_is_going_needs_no_call() -> None:
    made = settled()
    made.restart("web-0-1")
    made.delete("web-0")
    group = Group(0, {0: made.pod("web-0"), 1: made.pod("web-0-1"), 2: made.pod("web-0-2")})
    assert called(group, ON_RESTART) is None
