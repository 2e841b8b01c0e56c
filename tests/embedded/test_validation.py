import copy
from typing import Any

import pytest

from quorate.api.meta import Json
from quorate.embedded.defaults import default, prepare_create
from quorate.embedded.validation import validate_create, validate_status, validate_update

CONTAINER = {"name": "c", "image": "busybox:1"}
APP = {"app": "x"}


def pod(**spec: Any) -> Json:
    obj = {"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": [CONTAINER], **spec}}
    return default("", "Pod", copy.deepcopy(obj))


def messages(group: str, kind: str, obj: Json, *, namespaced: bool = True) -> list[str]:
    return [str(cause) for cause in validate_create(group, kind, obj, namespaced=namespaced)]


def pod_messages(**spec: Any) -> list[str]:
    return messages("", "Pod", pod(**spec))


def workload(group: str, kind: str, **spec: Any) -> Json:
    template = {"metadata": {"labels": APP}, "spec": {"containers": [CONTAINER]}}
    fields = {"selector": {"matchLabels": APP}, "template": template, **spec}
    obj = {"metadata": {"name": "w", "namespace": "default", "uid": "u"}, "spec": fields}
    return default(group, kind, copy.deepcopy(obj))


def test_a_plain_pod_is_fine() -> None:
    assert pod_messages() == []


def test_a_pod_without_containers() -> None:
    assert pod_messages(containers=[]) == ["spec.containers: Required value"]


def test_a_bad_name_is_said_with_the_pattern() -> None:
    obj = pod()
    obj["metadata"]["name"] = "Bad_Name"
    assert messages("", "Pod", obj) == [
        (
            'metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of '
            "lower case alphanumeric characters, '-' or '.', and must start and end with "
            "an alphanumeric character (e.g. "
            "'example.com', regex used for validation is "
            r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        )
    ]


def test_namespaces_have_names_without_dots() -> None:
    obj = default("", "Namespace", {"metadata": {"name": "a.b"}})
    [message, *_] = messages("", "Namespace", obj, namespaced=False)
    assert message == 'metadata.name: Invalid value: "a.b": must not contain dots'


def test_labels_and_annotations() -> None:
    obj = pod()
    obj["metadata"] |= {"labels": {"-bad": "ok", "ok": "not ok"}, "annotations": {"a/b/c": ""}}
    found = messages("", "Pod", obj)
    assert len(found) == 3
    assert found[0].startswith('metadata.labels: Invalid value: "-bad": name part must consist of')
    assert found[1].startswith(
        'metadata.labels: Invalid value: "not ok": a valid label must be an empty string'
    )
    assert found[2].startswith(
        'metadata.annotations: Invalid value: "a/b/c": a valid label key must consist of'
    )


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        (
            {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}},
            'requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
        ),
        (
            {"limits": {"nvidia.com/gpu": 2}, "requests": {"nvidia.com/gpu": 1}},
            'requests: Invalid value: "1": must be equal to nvidia.com/gpu limit of 2',
        ),
        (
            {"requests": {"nvidia.com/gpu": 1}},
            "limits: Required value: Limit must be set for non overcommitable resources",
        ),
        (
            {"limits": {"nvidia.com/gpu": "500m"}},
            'limits[nvidia.com/gpu]: Invalid value: "500m": must be an integer',
        ),
        ({"limits": {"cpu": "-1"}}, 'limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'),
    ],
)
def test_resources(resources: Json, message: str) -> None:
    found = pod_messages(containers=[{**CONTAINER, "resources": resources}])
    assert f"spec.containers[0].resources.{message}" in found


def test_an_unknown_amount_names_the_form() -> None:
    [first, *_] = pod_messages(containers=[{**CONTAINER, "resources": {"limits": {"cpu": "lots"}}}])
    assert first.startswith(
        'spec.containers[0].resources.limits[cpu]: Invalid value: "lots": quantities must match'
    )


def test_container_names_are_unique_over_both_lists() -> None:
    found = pod_messages(initContainers=[CONTAINER])
    assert found == ['spec.initContainers[0].name: Duplicate value: "c"']


def test_containers_need_names_and_images() -> None:
    assert pod_messages(containers=[{}]) == [
        "spec.containers[0].name: Required value",
        "spec.containers[0].image: Required value",
    ]


def test_mounts_need_their_volume() -> None:
    mounts = [{"name": "data", "mountPath": "/d"}]
    found = pod_messages(containers=[{**CONTAINER, "volumeMounts": mounts}])
    assert found == ['spec.containers[0].volumeMounts[0].name: Not found: "data"']


def test_tolerations_and_gates() -> None:
    found = pod_messages(
        tolerations=[{"operator": "Equal"}, {"key": "k", "operator": "Exists", "value": "v"}],
        schedulingGates=[{"name": "a"}, {"name": "a"}],
    )
    assert found == [
        (
            'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists '
            'when `key` is empty, which means "match all values and all keys"'
        ),
        "spec.tolerations[1].operator: Invalid value: \"v\": value must be empty when `operator` is 'Exists'",
        'spec.schedulingGates[1]: Duplicate value: "a"',
    ]


def test_affinity_needs_a_topology_key() -> None:
    term = {"labelSelector": {"matchLabels": APP}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    path = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"
    [first, *_] = pod_messages(affinity=affinity)
    assert first == f"{path}.topologyKey: Required value: can not be empty"


def test_a_deployment_must_select_its_template() -> None:
    obj = workload("apps", "Deployment", selector={"matchLabels": {"app": "y"}})
    assert messages("apps", "Deployment", obj) == [
        (
            'spec.template.metadata.labels: Invalid value: {"app":"x"}: '
            "`selector` does not match template `labels`"
        )
    ]


def test_a_deployment_needs_a_selector() -> None:
    obj = workload("apps", "Deployment")
    del obj["spec"]["selector"]
    fields = [cause.field for cause in validate_create("apps", "Deployment", obj)]
    assert fields == ["spec.selector", "spec.template.metadata.labels"]


def test_selectors_never_change() -> None:
    old = workload("apps", "Deployment")
    new = copy.deepcopy(old)
    labels = {"app": "x", "tier": "y"}
    new["spec"]["selector"]["matchLabels"] = labels
    new["spec"]["template"]["metadata"]["labels"] = labels
    [cause] = validate_update("apps", "Deployment", new, old)
    assert str(cause) == (
        'spec.selector: Invalid value: {"matchLabels":{"app":"x","tier":"y"}}: field is immutable'
    )


def test_stateful_sets_change_only_in_named_fields() -> None:
    old = workload("apps", "StatefulSet", serviceName="a")
    new = copy.deepcopy(old)
    new["spec"]["replicas"] = 3
    assert validate_update("apps", "StatefulSet", new, old) == []
    new["spec"]["serviceName"] = "b"
    [cause] = validate_update("apps", "StatefulSet", new, old)
    assert cause.message.startswith(
        "Forbidden: updates to statefulset spec for fields other than 'replicas',"
    )


def test_a_job_must_not_restart_always() -> None:
    obj = workload("batch", "Job", selector=None)
    prepare_create("batch", "Job", obj)
    assert messages("batch", "Job", obj) == [
        'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'
    ]


def test_a_job_selects_its_pods_by_its_uid_unless_it_says_otherwise() -> None:
    obj = workload("batch", "Job")
    manual = copy.deepcopy(obj)
    manual["spec"]["manualSelector"] = True
    prepare_create("batch", "Job", obj)
    assert "`selector` not auto-generated" in messages("batch", "Job", obj)[0]
    assert not any("auto-generated" in text for text in messages("batch", "Job", manual))


def test_bare_finalizers_are_refused_in_updates_too() -> None:
    old: Json = {"metadata": {"name": "c", "namespace": "default"}}
    new: Json = {"metadata": {**old["metadata"], "finalizers": ["bare"]}}
    [cause] = validate_update("", "ConfigMap", new, old)
    assert cause.field == "metadata.finalizers[0]"


def pod_template(**template: Json) -> Json:
    obj: Json = {"metadata": {"name": "t", "namespace": "default"}, "template": template}
    return default("", "PodTemplate", obj)


def test_a_pod_template_is_looked_at_wherever_it_stands() -> None:
    assert messages("", "PodTemplate", pod_template()) == ["template.spec.containers: Required value"]
    odd: Json = {"labels": {"a b": "c"}, "annotations": {"x y": "z"}}
    found = validate_create("", "PodTemplate", pod_template(metadata=odd, spec={"containers": [CONTAINER]}))
    assert [cause.field for cause in found] == ["template.labels", "template.annotations"]


def test_negative_replicas() -> None:
    obj = workload("apps", "ReplicaSet", replicas=-1)
    assert messages("apps", "ReplicaSet", obj) == [
        "spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    ]


def test_pods_change_only_in_named_fields() -> None:
    old = pod()
    new = copy.deepcopy(old)
    new["spec"]["containers"][0]["image"] = "busybox:2"
    new["spec"]["tolerations"] = [{"key": "k", "operator": "Exists"}]
    assert validate_update("", "Pod", new, old) == []
    new["spec"]["nodeName"] = "n1"
    [cause] = validate_update("", "Pod", new, old)
    assert cause.field == "spec"
    assert cause.message.startswith(
        "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
        "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
        "(allow it to be set to 1 if it was previously negative)\n"
    )
    assert "nodeName" in cause.message


def test_gates_are_only_removed_and_gated_pods_may_be_steered() -> None:
    old = pod(schedulingGates=[{"name": "a"}])
    new = copy.deepcopy(old)
    new["spec"] |= {"nodeSelector": {"zone": "z"}, "schedulingGates": []}
    assert validate_update("", "Pod", new, old) == []
    new["spec"]["schedulingGates"] = [{"name": "b"}]
    [cause] = validate_update("", "Pod", new, old)
    assert str(cause) == (
        "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'"
    )


def test_metadata_that_stays() -> None:
    old = pod()
    new = copy.deepcopy(old)
    new["metadata"]["uid"] = "other"
    assert [str(cause) for cause in validate_status(new, old)] == [
        'metadata.uid: Invalid value: "other": field is immutable'
    ]


def test_no_new_finalizers_while_deleting() -> None:
    old = pod()
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    new = copy.deepcopy(old)
    new["metadata"]["finalizers"] = ["example.com/a"]
    [cause] = validate_status(new, old)
    assert cause.message == (
        "Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"example.com/a"}'
    )


def test_owner_references_are_complete_and_have_one_controller() -> None:
    obj = pod()
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a", "uid": "1", "controller": True}
    obj["metadata"]["ownerReferences"] = [
        owner,
        {**owner, "name": "b"},
        {**owner, "uid": "", "controller": False},
    ]
    fields = [cause.field for cause in validate_create("", "Pod", obj)]
    assert fields == ["metadata.ownerReferences", "metadata.ownerReferences.uid"]


def test_custom_kinds_get_the_metadata_rules() -> None:
    obj = {"metadata": {"name": "q", "namespace": "default"}}
    assert messages("scheduling.run.ai", "Queue", obj, namespaced=False) == [
        "metadata.namespace: Forbidden: not allowed on this type"
    ]


def test_priority_classes() -> None:
    obj = default("scheduling.k8s.io", "PriorityClass", {"metadata": {"name": "p"}, "value": 2_000_000_000})
    assert messages("scheduling.k8s.io", "PriorityClass", obj, namespaced=False) == [
        "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"
    ]
    old = {**obj, "value": 5}
    found = validate_update("scheduling.k8s.io", "PriorityClass", {**old, "value": 6}, old)
    assert [str(cause) for cause in found] == ["value: Forbidden: may not be changed in an update."]


def test_a_claim_is_bound_once_and_may_grow() -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    old = default("", "PersistentVolumeClaim", {"metadata": {"name": "c", "namespace": "d"}, "spec": spec})
    new = copy.deepcopy(old)
    new["spec"] |= {"volumeName": "v", "resources": {"requests": {"storage": "2Gi"}}}
    assert validate_update("", "PersistentVolumeClaim", new, old) == []
    again = copy.deepcopy(new)
    again["spec"]["volumeName"] = "other"
    [cause] = validate_update("", "PersistentVolumeClaim", again, new)
    assert cause.message.startswith(
        "Forbidden: spec is immutable after creation except resources.requests and"
    )


def test_a_budget_takes_one_bound() -> None:
    obj = {"metadata": {"name": "b", "namespace": "d"}, "spec": {"minAvailable": 1, "maxUnavailable": 1}}
    shown = '{"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}'
    why = "minAvailable and maxUnavailable cannot be both set"
    assert messages("policy", "PodDisruptionBudget", obj) == [f"spec: Invalid value: {shown}: {why}"]


def test_node_taints() -> None:
    taint = {"key": "k", "effect": "Sometimes"}
    obj = default("", "Node", {"metadata": {"name": "n"}, "spec": {"taints": [taint]}})
    assert messages("", "Node", obj, namespaced=False) == [
        (
            'metadata.taints[0].effect: Unsupported value: "Sometimes": supported values: '
            '"NoSchedule", "PreferNoSchedule", "NoExecute"'
        )
    ]


def test_services_need_ports_with_names_when_many() -> None:
    meta = {"name": "s", "namespace": "d"}
    empty = default("", "Service", {"metadata": meta, "spec": {}})
    assert messages("", "Service", empty) == ["spec.ports: Required value"]
    two = default(
        "", "Service", {"metadata": meta, "spec": {"ports": [{"port": 1, "name": "a"}, {"port": 2}]}}
    )
    assert messages("", "Service", two) == ["spec.ports[1].name: Required value"]


def test_an_immutable_secret_stays() -> None:
    old = {
        "metadata": {"name": "s", "namespace": "d"},
        "type": "Opaque",
        "immutable": True,
        "data": {"a": "YQ=="},
    }
    new = {**old, "data": {"a": "Yg=="}}
    assert [str(cause) for cause in validate_update("", "Secret", new, old)] == [
        "data: Forbidden: field is immutable when `immutable` is set"
    ]


def test_roles_and_bindings() -> None:
    group = "rbac.authorization.k8s.io"
    role = {"kind": "Role", "metadata": {"name": "r", "namespace": "d"}, "rules": [{"verbs": ["get"]}]}
    assert messages(group, "Role", role) == [
        "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        "rules[0].resources: Required value: resource rules must supply at least one resource",
    ]
    binding = {"kind": "RoleBinding", "metadata": {"name": "r", "namespace": "d"}}
    old = default(group, "RoleBinding", {**binding, "roleRef": {"kind": "Role", "name": "a"}})
    new = default(group, "RoleBinding", {**binding, "roleRef": {"kind": "Role", "name": "b"}})
    [cause] = validate_update(group, "RoleBinding", new, old)
    assert cause.message.endswith("cannot change roleRef")


def test_webhooks_must_say_what_they_do() -> None:
    kind = "ValidatingWebhookConfiguration"
    obj = {"metadata": {"name": "v"}, "webhooks": [{"name": "a.b.c", "rules": [{"operations": ["CREATE"]}]}]}
    default("admissionregistration.k8s.io", kind, obj)
    fields = [
        cause.field for cause in validate_create("admissionregistration.k8s.io", kind, obj, namespaced=False)
    ]
    assert fields == [
        "webhooks[0].rules[0].apiGroups",
        "webhooks[0].rules[0].apiVersions",
        "webhooks[0].rules[0].resources",
        "webhooks[0].sideEffects",
        "webhooks[0].clientConfig",
        "webhooks[0].admissionReviewVersions",
    ]


def test_a_webhook_condition_must_compile() -> None:
    kind, group = "ValidatingWebhookConfiguration", "admissionregistration.k8s.io"
    conditions = [{"name": "a", "expression": "objekt.x"}]
    webhook = {
        "name": "a.b.c",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://a"},
        "matchConditions": conditions,
    }
    obj = default(group, kind, {"metadata": {"name": "v"}, "webhooks": [webhook]})
    [message] = messages(group, kind, obj, namespaced=False)
    assert "undeclared reference to 'objekt'" in message
