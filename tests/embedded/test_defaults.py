import pytest

from quorate.api.meta import Json
from quorate.embedded.defaults import default, prepare_create
from quorate.embedded.defaults.creation import quality_of_service
from quorate.embedded.quantities import canonical, nanos


def pod(**container: object) -> Json:
    spec = {"containers": [{"name": "c", "image": "busybox:1.36", **container}]}
    return default("", "Pod", {"metadata": {"name": "p", "namespace": "default"}, "spec": spec})


def test_pod_spec_is_completed() -> None:
    spec = pod()["spec"]
    container = spec.pop("containers")[0]
    assert spec == {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "enableServiceLinks": True,
    }
    assert container == {
        "name": "c",
        "image": "busybox:1.36",
        "imagePullPolicy": "IfNotPresent",
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "resources": {},
    }


def test_defaulting_twice_changes_nothing() -> None:
    once = pod(resources={"limits": {"cpu": "0.5"}}, readinessProbe={"httpGet": {"port": 80}})
    again = default("", "Pod", {**once, "spec": {**once["spec"]}})
    assert again == once


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("busybox", "Always"),
        ("busybox:latest", "Always"),
        ("busybox:1", "IfNotPresent"),
        ("registry.example:5000/team/app", "Always"),
        ("registry.example:5000/team/app:2", "IfNotPresent"),
        ("busybox@sha256:abc", "IfNotPresent"),
    ],
)
def test_pull_policy_follows_the_tag(image: str, policy: str) -> None:
    assert pod(image=image)["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_requests_are_taken_from_limits_and_kept_where_set() -> None:
    resources = {"limits": {"nvidia.com/gpu": 8, "cpu": "2"}, "requests": {"cpu": "500m"}}
    found = pod(resources=resources)["spec"]["containers"][0]["resources"]
    assert found["requests"] == {"nvidia.com/gpu": "8", "cpu": "500m"}


def test_host_network_ports_become_host_ports() -> None:
    spec = {"hostNetwork": True, "containers": [{"name": "c", "ports": [{"containerPort": 80}]}]}
    obj = default("", "Pod", {"spec": spec})
    assert obj["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP", "hostPort": 80}]


def test_probe_and_volume_defaults() -> None:
    probe = pod(livenessProbe={"httpGet": {"port": 80}})["spec"]["containers"][0]["livenessProbe"]
    assert probe["httpGet"] == {"port": 80, "path": "/", "scheme": "HTTP"}
    assert (probe["periodSeconds"], probe["failureThreshold"]) == (10, 3)
    obj = default(
        "", "Pod", {"spec": {"volumes": [{"name": "a"}, {"name": "b", "secret": {"secretName": "s"}}]}}
    )
    assert obj["spec"]["volumes"] == [
        {"name": "a", "emptyDir": {}},
        {"name": "b", "secret": {"secretName": "s", "defaultMode": 420}},
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("512Ki", "512Ki"),
        ("0.5Ki", "512"),
        ("1e3", "1e3"),
        ("100000", "100k"),
        ("0", "0"),
        ("1500", "1500"),
        ("-2000m", "-2"),
        ("0.0001", "1m"),
        ("3E", "3E"),
    ],
)
def test_quantities_are_stored_in_canonical_form(text: str, expected: str) -> None:
    assert canonical(text) == expected


def test_a_word_is_no_quantity() -> None:
    with pytest.raises(ValueError, match="quantities must match"):
        nanos("lots")


def test_deployment_and_daemon_set_strategies() -> None:
    spec = default("apps", "Deployment", {"spec": {"template": {"spec": {"containers": []}}}})["spec"]
    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    assert (spec["replicas"], spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (1, 10, 600)
    assert spec["template"]["spec"]["restartPolicy"] == "Always"
    recreate = default("apps", "Deployment", {"spec": {"strategy": {"type": "Recreate"}}})["spec"]
    assert recreate["strategy"] == {"type": "Recreate"}
    daemon = default("apps", "DaemonSet", {"spec": {}})["spec"]["updateStrategy"]
    assert daemon == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}


def test_stateful_set_keeps_an_explicit_strategy_without_partition() -> None:
    spec = default("apps", "StatefulSet", {"spec": {"updateStrategy": {"type": "OnDelete"}}})["spec"]
    assert spec["updateStrategy"] == {"type": "OnDelete"}
    spec = default("apps", "StatefulSet", {"spec": {}})["spec"]
    assert spec["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}


def test_job_counts_and_generated_selector() -> None:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": []}}
    obj: Json = {"metadata": {"name": "j", "uid": "u-1"}, "spec": {"template": template}}
    default("batch", "Job", obj)
    prepare_create("batch", "Job", obj)
    spec = obj["spec"]
    assert (spec["completions"], spec["parallelism"], spec["backoffLimit"]) == (1, 1, 6)
    assert obj["metadata"]["labels"] == {"app": "x"}
    assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u-1"}}
    assert spec["template"]["metadata"]["labels"] == {
        "app": "x",
        "batch.kubernetes.io/controller-uid": "u-1",
        "controller-uid": "u-1",
        "batch.kubernetes.io/job-name": "j",
        "job-name": "j",
    }
    parallel = default("batch", "Job", {"spec": {"parallelism": 4}})["spec"]
    assert "completions" not in parallel


def test_namespace_gets_its_label_and_finalizer() -> None:
    obj = default("", "Namespace", {"metadata": {"name": "team"}})
    prepare_create("", "Namespace", obj)
    assert obj["metadata"]["labels"] == {"kubernetes.io/metadata.name": "team"}
    assert obj["spec"]["finalizers"] == ["kubernetes"]
    assert obj["status"] == {"phase": "Active"}


def test_a_new_pod_is_pending_whatever_its_author_wrote() -> None:
    obj = pod()
    obj["status"] = {"phase": "Running"}
    prepare_create("", "Pod", obj)
    assert obj["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


def test_a_gated_pod_says_so() -> None:
    obj = pod()
    obj["spec"]["schedulingGates"] = [{"name": "g"}]
    prepare_create("", "Pod", obj)
    assert obj["status"]["conditions"][0]["reason"] == "SchedulingGated"


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        (
            {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1024Mi"}},
            "Guaranteed",
        ),
        (
            {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}},
            "Burstable",
        ),
        ({"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}, "BestEffort"),
    ],
)
def test_quality_of_service(resources: Json, quality: str) -> None:
    assert quality_of_service({"containers": [{"resources": resources}]}) == quality


def test_a_definition_gets_the_names_it_implies() -> None:
    obj = default("apiextensions.k8s.io", "CustomResourceDefinition", {"spec": {"names": {"kind": "Queue"}}})
    assert obj["spec"]["names"] == {"kind": "Queue", "singular": "queue", "listKind": "QueueList"}
    assert obj["spec"]["conversion"] == {"strategy": "None"}
