import pytest
from msgspec.structs import replace

from quorate.api.apps import CONTROLLER_REVISION
from quorate.api.core import POD, SERVICE
from quorate.api.meta import Json
from quorate.api.policy import POD_DISRUPTION_BUDGET
from quorate.api.storage import PERSISTENT_VOLUME_CLAIM
from quorate.api.timestamps import epoch, text
from quorate.plan import Create, Delete, Patch, SetStatus
from quorate.workloads.lws.groups import SICK_SECONDS
from quorate.workloads.lws.tending import LATE_SECONDS
from tests.fakes.lws_set import DELETED, NOW, World, manifest

IMAGE_2: Json = {
    "spec": {
        "leaderWorkerTemplate": {
            "workerTemplate": {"spec": {"containers": [{"name": "app", "image": "example/app:2"}]}}
        }
    }
}
CLAIMS: Json = {
    "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}],
    "persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete", "whenDeleted": "Delete"},
}


def world(replicas: int = 2, size: int = 2, **template: object) -> World:
    body = manifest(replicas, size)
    body["spec"]["leaderWorkerTemplate"].update(template)
    return World(body)


def settled(replicas: int = 2, size: int = 2, **template: object) -> World:
    made = world(replicas, size, **template)
    made.settle()
    return made


def test_first_pass_makes_every_pod_once_with_its_service_and_revision() -> None:
    made = world(2, 3)
    plan = made.step()
    pods = [
        change.target.name
        for change in plan.changes
        if isinstance(change, Create) and change.target.kind is POD
    ]
    assert pods == ["web-0", "web-0-1", "web-0-2", "web-1", "web-1-1", "web-1-2"]
    assert [found.metadata.name for found in made.all(SERVICE)] == ["web"]
    assert [found.revision for found in made.all(CONTROLLER_REVISION)] == [1]


def test_second_pass_over_unchanged_children_writes_nothing() -> None:
    made = world()
    made.step()
    assert [type(change) for change in made.step().changes] == [SetStatus]  # now the pods are there
    assert made.plan().changes == ()
    made.settle()
    assert made.plan().changes == ()


def test_set_that_is_being_deleted_is_left_alone() -> None:
    made = settled()
    made.edit({"metadata": {"deletionTimestamp": "2026-11-19T02:00:00Z"}, "spec": {"replicas": 5}})
    made.delete("web-0")
    assert made.plan().changes == ()


def test_available_means_that_every_wanted_group_is_ready_and_new() -> None:
    made = world()
    made.step()
    assert (made.condition("Available"), made.condition("Progressing")) == ("", "True")
    made.settle()
    assert (made.condition("Available"), made.condition("Progressing")) == ("True", "False")
    made.edit(IMAGE_2)
    made.step()
    assert (made.condition("Available"), made.condition("UpdateInProgress")) == ("False", "True")
    made.settle()
    assert (made.condition("Available"), made.condition("UpdateInProgress")) == ("True", "False")
    assert made.events[-1] == "AllGroupsReady"


def test_surge_groups_are_not_counted() -> None:
    made = world()
    made.edit(
        {"spec": {"rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": 2, "maxUnavailable": 0}}}}
    )
    made.settle()
    made.edit(IMAGE_2)
    made.step()
    assert len(made.names) == 8
    assert made.status["replicas"] == 2
    made.get_ready(made.names)
    made.step()
    assert (made.status["readyReplicas"], made.status.get("updatedReplicas", 0)) == (2, 0)


def test_lost_group_below_a_rollout_comes_back_as_it_was() -> None:
    made = settled(4)
    old = made.revisions()["web-0"]
    made.edit(IMAGE_2)
    made.step()
    made.gone()
    made.step()
    assert made.revisions()["web-3"] != old
    made.delete("web-0")
    made.step()
    made.gone()
    made.step()
    assert made.revisions()["web-0"] == old
    made.settle()
    assert old not in made.revisions().values()


def test_group_that_stays_sick_is_replaced_out_of_turn() -> None:
    made = settled(3)
    old = made.revisions()["web-0"]
    made.edit(IMAGE_2)
    made.set_status("web-0", conditions=None)
    for name in made.names:
        made.pod(name).metadata.creation_timestamp = text(NOW)
    made.now += SICK_SECONDS + 1
    made.step()
    assert made.revisions()["web-2"] == old  # the sick one uses the budget up
    assert made.status["replacing"] == [0]
    made.gone()
    made.step()
    assert made.revisions()["web-0"] == made.status["updateRevision"] != old
    made.settle()
    assert "replacing" not in made.status
    assert set(made.revisions().values()) == {made.status["updateRevision"]}


@pytest.mark.parametrize("policy", ["RecreateGroupOnPodRestart", "None"])
def test_pod_that_does_not_go_is_named_with_its_node(policy: str) -> None:
    made = settled(restartPolicy=policy)
    worker = made.pod("web-0-1")
    made.hold(POD, replace(worker, spec=replace(worker.spec, node_name="node-7")))
    made.delete("web-0-1")
    made.now = epoch(DELETED) + LATE_SECONDS - 1
    made.step()
    assert made.condition("Degraded") != "True"
    assert made.look_again == 1
    made.now += 1
    if policy != "None":
        del made.held[POD, "web-0"]  # its node is well
    made.step()
    (trouble,) = (one["message"] for one in made.status["conditions"] if one["type"] == "Degraded")
    assert "group 0 waits for pod web-0-1 to go from node node-7" in trouble
    made.settle()
    assert made.condition("Degraded") == "False"


def test_group_keeps_its_size_until_the_rollout_reaches_it() -> None:
    made = settled(3, 2)
    made.edit({"spec": {"leaderWorkerTemplate": {"size": 4}}})
    made.step()
    made.gone()
    made.step()
    made.delete("web-0")
    made.step()
    made.gone()
    made.step()
    assert [name for name in made.names if name.startswith("web-0")] == ["web-0", "web-0-1"]
    made.settle()
    assert len(made.names) == 12


@pytest.mark.parametrize("first", [{"spec": {"replicas": 5}}, {"spec": {"replicas": 1}}, IMAGE_2])
@pytest.mark.parametrize(
    "second",
    [{"spec": {"replicas": 2}}, {"spec": {"leaderWorkerTemplate": {"size": 3}}}, {"spec": {"replicas": 6}}],
)
@pytest.mark.parametrize("passes", range(6))
def test_edits_in_the_middle_of_each_other_end_where_the_last_one_asks(
    first: Json, second: Json, passes: int
) -> None:
    made = settled(3)
    made.edit(first)
    for turn in range(passes):
        made.step()
        if turn % 2:
            made.gone()
            made.get_ready(made.names)
    made.edit(second)
    made.settle()
    spec = made.item.spec
    assert len(made.names) == spec.replicas * spec.leader_worker_template.size
    assert set(made.revisions().values()) == {made.status["updateRevision"]}
    assert made.condition("Available") == "True"
    assert made.plan().changes == ()


def test_earlier_template_moves_its_revision_to_the_front() -> None:
    made = settled()
    first = made.status["updateRevision"]
    made.edit(IMAGE_2)
    made.settle()
    made.edit({"spec": manifest()["spec"]})
    made.settle()
    assert made.status["updateRevision"] == first
    assert sorted(found.revision for found in made.all(CONTROLLER_REVISION)) == [2, 3]


def test_pods_and_revisions_of_nobody_are_adopted_first() -> None:
    made = settled(1)
    before = {pod.metadata.name: pod.metadata.uid for pod in made.all(POD)}
    made.edit({"metadata": {"uid": "other-uid"}, "status": None})
    for kind in (POD, CONTROLLER_REVISION):
        for found in made.all(kind):
            found.metadata.owner_references = None
    plan = made.step()
    assert {type(change) for change in plan.changes} == {Patch}
    made.settle()
    assert {pod.metadata.name: pod.metadata.uid for pod in made.all(POD)} == before


def test_pods_of_another_owner_are_neither_adopted_nor_counted() -> None:
    made = settled(1)
    made.edit({"metadata": {"uid": "other-uid"}})
    plan = made.plan()
    assert not [
        change for change in plan.changes if isinstance(change, Patch | Delete) and change.target.kind is POD
    ]


def test_claims_of_removed_groups_go_where_the_policy_says_so() -> None:
    made = settled(2, 1, **CLAIMS)
    assert [found.metadata.name for found in made.all(PERSISTENT_VOLUME_CLAIM)] == [
        "data-web-0",
        "data-web-1",
    ]
    made.edit({"spec": {"replicas": 1}})
    made.settle()
    assert [found.metadata.name for found in made.all(PERSISTENT_VOLUME_CLAIM)] == ["data-web-0"]
    assert made.all(PERSISTENT_VOLUME_CLAIM)[0].metadata.owner_references[0].uid == "web-uid"


def test_claims_outlive_a_group_that_is_recreated() -> None:
    made = settled(1, 2, **CLAIMS)
    kept = {found.metadata.uid for found in made.all(PERSISTENT_VOLUME_CLAIM)}
    made.delete("web-0")
    made.settle()
    assert {found.metadata.uid for found in made.all(PERSISTENT_VOLUME_CLAIM)} == kept


def test_every_group_has_its_own_service_where_that_is_asked_for() -> None:
    made = world(2)
    made.edit({"spec": {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}})
    made.settle()
    assert [found.metadata.name for found in made.all(SERVICE)] == ["web-0", "web-1"]
    made.edit({"spec": {"replicas": 1}})
    made.settle()
    assert [found.metadata.name for found in made.all(SERVICE)] == ["web-0"]


def test_budgets_follow_their_annotation() -> None:
    made = world(2, 4)
    made.edit({"metadata": {"annotations": {"quorate.dev/disruption-budget": "1"}}})
    made.settle()
    assert [found.spec.min_available for found in made.all(POD_DISRUPTION_BUDGET)] == [3, 3]
    made.edit({"metadata": {"annotations": {"quorate.dev/disruption-budget": "2"}}})
    made.settle()
    assert [found.spec.min_available for found in made.all(POD_DISRUPTION_BUDGET)] == [2, 2]
    made.edit({"metadata": {"annotations": {"quorate.dev/disruption-budget": None}}})
    made.settle()
    assert made.all(POD_DISRUPTION_BUDGET) == []


def test_paused_set_repairs_and_scales_but_does_not_roll() -> None:
    made = settled()
    old = made.revisions()["web-0"]
    made.edit({"metadata": {"annotations": {"quorate.dev/paused": "true"}}})
    made.edit(IMAGE_2)
    made.edit({"spec": {"replicas": 3}})
    made.settle()
    made.delete("web-1")
    made.settle()
    assert set(made.revisions().values()) == {old}
    assert len(made.names) == 6
    made.edit({"metadata": {"annotations": {"quorate.dev/paused": None}}})
    made.settle()
    assert old not in made.revisions().values()


def test_workers_wait_for_a_ready_leader_where_that_is_asked_for() -> None:
    made = world(1, 3)
    made.edit({"spec": {"startupPolicy": "LeaderReady"}})
    made.step()
    made.step()
    assert made.names == ["web-0"]
    made.get_ready(["web-0"])
    made.step()
    assert made.names == ["web-0", "web-0-1", "web-0-2"]


def test_workers_of_another_scheduler_follow_their_leader_into_its_domain() -> None:
    pods = {"spec": {"schedulerName": "other", "containers": [{"name": "app", "image": "a"}]}}
    made = world(1, 2, workerTemplate=pods)
    made.edit({"metadata": {"annotations": {"leaderworkerset.sigs.k8s.io/exclusive-topology": "rack"}}})
    made.step()
    assert made.names == ["web-0"]
    leader = made.pod("web-0")
    made.hold(POD, replace(leader, spec=replace(leader.spec, node_name="node-1")))
    made.step()
    assert "group 0: node node-1 of its leader has no label rack" in str(made.status["conditions"])
    made.nodes["node-1"] = {"rack": "r1"}
    made.step()
    assert made.condition("Degraded") == "False"
    assert made.pod("web-0-1").spec.node_selector == {"rack": "r1"}


def test_unready_groups_go_first_and_the_choice_is_written_down_before() -> None:
    made = world(4, 1)
    made.edit({"metadata": {"annotations": {"quorate.dev/scale-down": "unready-first"}}})
    made.settle()
    assert made.body["metadata"]["annotations"]["quorate.dev/groups"] == "0-3"
    made.set_status("web-1", conditions=None)
    made.edit({"spec": {"replicas": 3}})
    plan = made.step()
    assert [type(change) for change in plan.changes] == [Patch]
    assert made.body["metadata"]["annotations"]["quorate.dev/groups"] == "0,2-3"
    made.settle()
    assert made.names == ["web-0", "web-2", "web-3"]
    made.edit(IMAGE_2)
    made.settle()
    assert made.names == ["web-0", "web-2", "web-3"]
    made.edit({"spec": {"replicas": 5}})
    made.settle()
    assert made.names == ["web-0", "web-1", "web-2", "web-3", "web-4"]
