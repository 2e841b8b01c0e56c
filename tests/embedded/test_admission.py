import asyncio
from typing import Any

import pytest

from quorate.api.meta import Json
from quorate.embedded.admission import Admission
from quorate.embedded.admissionrequest import Operation, Request
from quorate.embedded.defaults import default
from quorate.embedded.errors import ApiError
from quorate.embedded.registry import Registry, Resource
from quorate.embedded.store import Key, Store

PODS = Resource("", "v1", "Pod", "pods", "pod", namespaced=True)
CLASSES = Resource(
    "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "priorityclass", namespaced=False
)
CLAIMS = Resource(
    "", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim", namespaced=True
)
NAMESPACES = Resource("", "v1", "Namespace", "namespaces", "namespace", namespaced=False)
CONTAINERS = [{"name": "c", "image": "i"}]


class World:
    def __init__(self) -> None:
        self.store = Store()
        self.admission = Admission(self.store, Registry([PODS, CLASSES, CLAIMS, NAMESPACES]))
        self.add("", "namespaces", "Namespace", "team", status={"phase": "Active"})
        self.priority_class("system-node-critical", 2_000_001_000)

    def add(self, group: str, plural: str, kind: str, name: str, namespace: str = "", **rest: Any) -> None:
        metadata = {"name": name, "namespace": namespace, **rest.pop("metadata", {})}
        obj = {"apiVersion": "v1", "kind": kind, **rest, "metadata": metadata}
        self.store.create(Key(group, plural, namespace, name), obj)

    def priority_class(self, name: str, value: int, **rest: Any) -> None:
        self.add(CLASSES.group, CLASSES.plural, CLASSES.kind, name, value=value, **rest)

    def admit(
        self, resource: Resource, obj: Json, operation: Operation = "CREATE", old: Json | None = None
    ) -> Json:
        request = Request(operation, resource, obj["metadata"].get("namespace", ""), "p", obj, old)
        found = asyncio.run(self.admission.mutate(request))
        assert found is not None
        return found

    def pod(self, *, namespace: str = "team", **spec: Any) -> Json:
        obj = {"metadata": {"name": "p", "namespace": namespace}, "spec": {"containers": CONTAINERS, **spec}}
        return self.admit(PODS, default("", "Pod", obj))


@pytest.fixture
def world() -> World:
    return World()


def test_a_pod_gets_account_priority_and_tolerations(world: World) -> None:
    spec = world.pod()["spec"]
    assert spec["serviceAccountName"] == spec["serviceAccount"] == "default"
    assert (spec["priority"], spec["preemptionPolicy"]) == (0, "PreemptLowerPriority")
    assert [one["key"] for one in spec["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]


def test_a_pod_that_tolerates_everything_gets_no_tolerations(world: World) -> None:
    tolerations = [{"operator": "Exists"}]
    assert world.pod(tolerations=tolerations)["spec"]["tolerations"] == tolerations


def test_priority_comes_from_the_class(world: World) -> None:
    world.priority_class("train", 50, preemptionPolicy="Never")
    spec = world.pod(priorityClassName="train")["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (50, "Never")
    assert world.pod(priorityClassName="system-node-critical")["spec"]["priority"] == 2_000_001_000


def test_priority_comes_from_the_global_default(world: World) -> None:
    assert world.pod()["spec"]["priority"] == 0
    world.priority_class("usual", 7, globalDefault=True)
    spec = world.pod()["spec"]
    assert (spec["priority"], spec["priorityClassName"]) == (7, "usual")


def test_an_unknown_class_is_refused(world: World) -> None:
    with pytest.raises(ApiError) as refused:
        world.pod(priorityClassName="nope")
    assert str(refused.value) == 'pods "p" is forbidden: no PriorityClass with name nope was found'


def test_a_number_of_ones_own_is_refused(world: World) -> None:
    with pytest.raises(ApiError) as refused:
        world.pod(priority=9)
    assert str(refused.value) == (
        'pods "p" is forbidden: the integer value of priority (9) must not be provided in pod spec; '
        "priority admission controller computed 0 from the given PriorityClass name"
    )


def test_an_unknown_service_account_is_refused(world: World) -> None:
    with pytest.raises(ApiError) as refused:
        world.pod(serviceAccountName="ghost")
    assert str(refused.value) == (
        'pods "p" is forbidden: error looking up service account team/ghost: serviceaccount "ghost" not found'
    )


def test_pull_secrets_of_the_account_are_used(world: World) -> None:
    world.add("", "serviceaccounts", "ServiceAccount", "robot", "team", imagePullSecrets=[{"name": "s"}])
    assert world.pod(serviceAccountName="robot")["spec"]["imagePullSecrets"] == [{"name": "s"}]


def test_a_missing_namespace_is_not_found(world: World) -> None:
    with pytest.raises(ApiError) as refused:
        world.pod(namespace="nowhere")
    assert (refused.value.code, str(refused.value)) == (404, 'namespaces "nowhere" not found')


def test_a_terminating_namespace_takes_nothing_new(world: World) -> None:
    world.add("", "namespaces", "Namespace", "going", status={"phase": "Terminating"})
    with pytest.raises(ApiError) as refused:
        world.pod(namespace="going")
    assert str(refused.value) == (
        'pods "p" is forbidden: unable to create new content in namespace going '
        "because it is being terminated"
    )
    assert refused.value.status["details"]["causes"][0]["reason"] == "NamespaceTerminating"


def test_some_namespaces_stay(world: World) -> None:
    request = Request("DELETE", NAMESPACES, "", "default", None, {"metadata": {"name": "default"}})
    with pytest.raises(
        ApiError, match='namespaces "default" is forbidden: this namespace may not be deleted'
    ):
        asyncio.run(world.admission.mutate(request))


def test_an_update_keeps_what_admission_gave(world: World) -> None:
    old = world.pod()
    new = default("", "Pod", {"metadata": dict(old["metadata"]), "spec": {"containers": CONTAINERS}})
    assert world.admit(PODS, new, "UPDATE", old)["spec"]["priority"] == 0


def test_one_global_default_only(world: World) -> None:
    world.priority_class("usual", 7, globalDefault=True)
    other = {"metadata": {"name": "other"}, "value": 1, "globalDefault": True}
    with pytest.raises(ApiError, match="PriorityClass usual is already marked as default"):
        world.admit(CLASSES, other)
    world.admit(CLASSES, {**other, "metadata": {"name": "usual"}}, "UPDATE")


def test_a_claim_gets_the_newest_default_class(world: World) -> None:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    for name, year in (("a", 2024), ("b", 2025)):
        metadata = {"annotations": annotations, "creationTimestamp": f"{year}-01-01T00:00:00Z"}
        world.add("storage.k8s.io", "storageclasses", "StorageClass", name, metadata=metadata)
    claim: Json = {"metadata": {"name": "c", "namespace": "team"}, "spec": {}}
    assert world.admit(CLAIMS, claim)["spec"]["storageClassName"] == "b"
    explicit: Json = {"metadata": {"name": "c", "namespace": "team"}, "spec": {"storageClassName": ""}}
    assert world.admit(CLAIMS, explicit)["spec"]["storageClassName"] == ""


def test_a_service_gets_an_address_and_a_taken_wish_is_refused(world: World) -> None:
    services = Resource("", "v1", "Service", "services", "service", namespaced=True)
    obj = {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "team"}}
    made = world.admit(services, default("", "Service", {**obj, "spec": {"ports": [{"port": 80}]}}))
    world.store.create(Key("", "services", "team", "p"), made)
    wish = {"clusterIP": made["spec"]["clusterIP"], "ports": [{"port": 80}]}
    with pytest.raises(ApiError, match=r"spec\.clusterIPs: Invalid value: .* already allocated"):
        world.admit(services, default("", "Service", {**obj, "spec": wish}))
