"""Pods of a set, read from the outside: labels, annotations, environment and terms."""

from typing import Any

import msgspec
import pytest

from quorate.admission.lws import review
from quorate.api import labels
from quorate.api.expected import expected_of
from quorate.api.lws import LeaderWorkerSet
from quorate.workloads.lws.pods import leader_pod, worker_pod
from tests.fakes.lws_world import LwsWorld, lws

Json = dict[str, Any]
EXCLUDED = {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def group_of(item: Json, index: int = 0) -> list[Json]:
    """The leader and the workers of one group, as the controller creates them."""
    world = LwsWorld()
    world.add(item)
    blueprint = world.blueprint(item["metadata"]["name"])
    workers = (worker_pod(blueprint, index, worker) for worker in range(1, blueprint.size))
    return [leader_pod(blueprint, index), *workers]


def label(pod: Json, key: str) -> str | None:
    value: str | None = pod["metadata"]["labels"].get(key)
    return value


def annotation(pod: Json, key: str) -> str | None:
    value: str | None = pod["metadata"]["annotations"].get(key)
    return value


def environment(pod: Json, part: str = "containers") -> dict[str, str]:
    return {each["name"]: each["value"] for each in pod["spec"][part][0]["env"]}


def terms(pod: Json, kind: str) -> list[Json]:
    found: list[Json] = pod["spec"].get("affinity", {}).get(kind, {}).get(REQUIRED, [])
    return found


def test_five_pods_in_excluded_sub_groups_of_two_are_leader_then_1_2_then_3_4() -> None:
    pods = group_of(lws("llm", size=5, subGroupPolicy=EXCLUDED))
    assert [label(pod, labels.LWS_SUB_GROUP_INDEX) for pod in pods] == [None, "0", "0", "1", "1"]
    keys = [label(pod, labels.LWS_SUB_GROUP_KEY) for pod in pods]
    assert keys[0] is None
    assert keys[1] == keys[2] != keys[3] == keys[4]


def test_an_excluded_leader_says_so_and_has_nothing_of_sub_groups() -> None:
    annotations = {labels.LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY: "rack"}
    leader, first, *_ = group_of(lws("llm", size=5, annotations=annotations, subGroupPolicy=EXCLUDED))
    assert annotation(leader, labels.LWS_SUB_GROUP_POLICY_TYPE) == "LeaderExcluded"
    assert not terms(leader, "podAffinity")
    assert not terms(leader, "podAntiAffinity")
    assert terms(first, "podAffinity")[0]["topologyKey"] == "rack"


def test_pods_are_addressed_by_name_under_the_service_of_the_set() -> None:
    leader, worker = group_of(lws("llm", size=2), index=3)
    assert (leader["spec"]["hostname"], leader["spec"]["subdomain"]) == ("llm-3", "llm")
    assert (worker["spec"]["hostname"], worker["spec"]["subdomain"]) == ("llm-3-1", "llm")
    assert environment(worker) == {
        "LWS_LEADER_ADDRESS": "llm-3.llm.ns",
        "LWS_GROUP_SIZE": "2",
        "LWS_WORKER_INDEX": "1",
    }


def test_each_group_may_have_a_service_of_its_own() -> None:
    item = lws("llm", size=2)
    item["spec"]["networkConfig"] = {"subdomainPolicy": "UniquePerReplica"}
    leader, worker = group_of(item, index=1)
    assert leader["spec"]["subdomain"] == worker["spec"]["subdomain"] == "llm-1"
    assert annotation(leader, labels.LWS_SUBDOMAIN_POLICY) == "UniquePerReplica"
    assert environment(worker)["LWS_LEADER_ADDRESS"] == "llm-1.llm-1.ns"


def test_pods_belong_to_the_set_that_controls_them() -> None:
    for pod in group_of(lws("llm", size=2)):
        (owner,) = pod["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"], owner["controller"]) == ("LeaderWorkerSet", "uid-llm", True)


def test_variables_of_the_user_follow_ours_once_each_and_never_replace_them() -> None:
    item = lws("llm", size=1)
    given = [
        {"name": "A", "value": "1"},
        {"name": "LWS_GROUP_SIZE", "value": "mine"},
        {"name": "A", "value": "2"},
    ]
    item["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["env"] = given
    (leader,) = group_of(item)
    env = leader["spec"]["containers"][0]["env"]
    assert [each["name"] for each in env] == [
        "LWS_LEADER_ADDRESS",
        "LWS_GROUP_SIZE",
        "LWS_WORKER_INDEX",
        "A",
    ]
    assert environment(leader)["A"] == "1"
    assert environment(leader)["LWS_GROUP_SIZE"] == "1"


def test_labels_of_the_template_never_replace_those_that_say_who_a_pod_is() -> None:
    item = lws("llm", size=1)
    template = item["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    template["metadata"] = {"labels": {"app": "llm", labels.LWS_GROUP_INDEX: "9"}}
    (leader,) = group_of(item)
    assert label(leader, "app") == "llm"
    assert label(leader, labels.LWS_GROUP_INDEX) == "0"


@pytest.mark.parametrize("user_keeps_to_racks", [False, True])
def test_exclusive_terms_stand_beside_those_of_the_user(user_keeps_to_racks: bool) -> None:  # noqa: FBT001 - a case
    item = lws("llm", size=2, annotations={labels.LWS_EXCLUSIVE_TOPOLOGY: "rack"})
    own = {"topologyKey": "rack", "labelSelector": {"matchLabels": {"app": "llm"}}}
    if user_keeps_to_racks:
        spec = item["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
        spec["affinity"] = {"podAffinity": {REQUIRED: [own]}, "podAntiAffinity": {REQUIRED: [own]}}
    leader, worker = group_of(item)
    for kind in ("podAffinity", "podAntiAffinity"):
        *users, ours = terms(leader, kind)
        assert users == ([own] if user_keeps_to_racks else [])
        assert ours["labelSelector"]["matchExpressions"][0]["key"] == labels.LWS_GROUP_KEY
        assert terms(worker, kind) == users


def test_a_worker_made_after_its_leader_was_placed_can_be_sent_to_its_domain() -> None:
    world = LwsWorld()
    world.add(lws("llm", size=2, annotations={labels.LWS_EXCLUSIVE_TOPOLOGY: "rack"}))
    pod = worker_pod(world.blueprint("llm"), 0, 1, domain="r7")
    assert pod["spec"]["nodeSelector"] == {"rack": "r7"}


def test_claims_become_volumes_in_place_of_those_of_the_same_name() -> None:
    item = lws("llm", size=1, volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {}}])
    spec = item["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    spec["volumes"] = [{"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}]
    (leader,) = group_of(item, index=2)
    assert leader["spec"]["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-llm-2"}},
        {"name": "tmp", "emptyDir": {}},
    ]


def test_only_a_leader_that_starts_alone_announces_its_workers() -> None:
    created, *_ = group_of(lws("llm", size=3))
    assert not expected_of(created["metadata"]["annotations"])
    alone, *workers = group_of(lws("llm", size=3, startupPolicy="LeaderReady"))
    (expected,) = expected_of(alone["metadata"]["annotations"])
    assert list(expected.pods) == [worker["metadata"]["name"] for worker in workers]


def test_tpu_processes_of_a_group_number_their_containers_in_order() -> None:
    item = lws("llm", size=2)
    containers = [
        {"name": name, "resources": {"limits": {labels.TPU_RESOURCE: 4}}} for name in ("first", "second")
    ]
    item["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"] = containers
    _, worker = group_of(item)
    env = [
        {each["name"]: each["value"] for each in container["env"]}
        for container in worker["spec"]["containers"]
    ]
    assert [each["TPU_WORKER_ID"] for each in env] == ["2", "3"]
    assert [each["TPU_PROCESS_PORT"] for each in env] == ["8476", "8477"]
    assert env[0]["TPU_WORKER_HOSTNAMES"] == "llm-0.llm,llm-0.llm,llm-0-1.llm,llm-0-1.llm"


def with_tpus(size: int, part: int | None, kind: str, *, leader: bool) -> Json:
    item = lws("llm", size=size, leader_gpus=0)
    template = item["spec"]["leaderWorkerTemplate"]
    if part:
        template["subGroupPolicy"] = {"subGroupSize": part, "subGroupPolicyType": kind}
    asking = {"limits": {labels.TPU_RESOURCE: 4}}
    template["workerTemplate"]["spec"]["containers"][0]["resources"] = asking
    if leader:
        template["leaderTemplate"]["spec"]["containers"][0]["resources"] = asking
    return item


def shapes() -> list[Json]:
    """Every shape of up to 12 pods with TPUs that admission lets in."""
    found = [
        with_tpus(size, part, kind, leader=leader)
        for size in range(1, 13)
        for part in (None, *range(1, size + 1))
        for kind in ("LeaderWorker", "LeaderExcluded")
        for leader in (True, False)
    ]
    return [item for item in found if not review(msgspec.convert(item, LeaderWorkerSet)).errors]


def test_in_every_shape_that_is_admitted_tpu_ids_hosts_and_sub_groups_agree() -> None:
    admitted = shapes()
    assert len(admitted) > 100
    for item in admitted:
        pods = group_of(item)
        served = [pod for pod in pods if "TPU_WORKER_ID" in environment(pod)]
        assert served or len(pods) == 1
        for pod in served:
            own = label(pod, labels.LWS_SUB_GROUP_INDEX)
            beside = [each for each in served if label(each, labels.LWS_SUB_GROUP_INDEX) == own]
            hosts = environment(pod)["TPU_WORKER_HOSTNAMES"].split(",")
            assert hosts == [f"{each['metadata']['name']}.llm" for each in beside]
            assert hosts[int(environment(pod)["TPU_WORKER_ID"])] == f"{pod['metadata']['name']}.llm"
