"""The API server as both kubectl versions see it; the same on the embedded cluster and on a real one."""

import pytest

from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl
from tests.system.cluster import Cluster

CONTAINERS = """
      containers:
        - name: app
          image: example/app:1
          resources: {requests: {cpu: 100m, memory: 64Mi}}
"""

DEPLOYMENT = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, labels: {{app: web}}}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      schedulerName: quorate{CONTAINERS}
"""

POD = """
apiVersion: v1
kind: Pod
metadata: {name: one, labels: {app: one}}
spec:
  schedulerName: quorate
  terminationGracePeriodSeconds: 1
  containers:
    - {name: app, image: "example/app:1"}
"""

CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: red, size: "1"}
"""


def test_deployment_is_applied_and_rolls_out(kubectl: Kubectl) -> None:
    assert "deployment.apps/web created" in kubectl.apply(DEPLOYMENT)
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    assert "deployment.apps/web unchanged" in kubectl.apply(DEPLOYMENT)


def test_deployment_is_scaled_and_waited_for(kubectl: Kubectl) -> None:
    kubectl.apply(DEPLOYMENT)
    assert "scaled" in kubectl("scale", "deployment/web", "--replicas=3")
    kubectl("wait", "deployment/web", "--for=jsonpath={.status.readyReplicas}=3", "--timeout=30s")
    assert kubectl("get", "pods", "-l", "app=web", "--no-headers").count("Running") == 3


def test_rollout_is_undone_to_the_former_revision(kubectl: Kubectl) -> None:
    kubectl.apply(DEPLOYMENT)
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    kubectl("set", "image", "deployment/web", "app=example/app:2")
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    history = kubectl("rollout", "history", "deployment/web")
    assert "1 " in history
    assert "2 " in history
    kubectl("rollout", "undo", "deployment/web")
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    image = "jsonpath={.spec.template.spec.containers[0].image}"
    assert kubectl("get", "deployment", "web", "-o", image) == "example/app:1"


def test_pod_is_shown_in_every_output_form(kubectl: Kubectl) -> None:
    kubectl.apply(POD)
    kubectl("wait", "pod/one", "--for=condition=Ready", "--timeout=30s")
    wide = kubectl("get", "pod", "one", "-o", "wide")
    assert wide.split("\n")[0].split()[:7] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE"]
    assert wide.split("\n")[1].split()[:3] == ["one", "1/1", "Running"]
    assert kubectl.get("pod", "one")["metadata"]["labels"]["app"] == "one"
    assert "kind: Pod" in kubectl("get", "pod", "one", "-o", "yaml")
    assert kubectl("get", "pod", "one", "-o", "jsonpath={.spec.schedulerName}") == "quorate"
    assert kubectl("get", "pods", "-o", "name").strip() == "pod/one"


def test_pod_is_described_with_its_events_and_node(kubectl: Kubectl) -> None:
    kubectl.apply(POD)
    kubectl("wait", "pod/one", "--for=condition=Ready", "--timeout=30s")
    described = kubectl("describe", "pod", "one")
    assert "Status:           Running" in described
    assert "Ready             True" in described


def test_node_is_described_with_its_capacity(kubectl: Kubectl) -> None:
    name = kubectl.get("nodes")["items"][0]["metadata"]["name"]
    described = kubectl("describe", "node", name)
    assert "nvidia.com/gpu" in described
    assert "Allocated resources" in described


def test_pod_is_deleted_gracefully(kubectl: Kubectl) -> None:
    kubectl.apply(POD)
    kubectl("wait", "pod/one", "--for=condition=Ready", "--timeout=30s")
    assert 'pod "one" deleted' in kubectl("delete", "pod", "one", timeout=40)
    assert kubectl.run("get", "pod", "one").code == 1


def test_difference_is_shown_before_it_is_applied(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG)
    changed = CONFIG.replace("red", "blue")
    shown = kubectl.run("diff", "-f", "-", stdin=changed)
    assert shown.code == 1, shown
    assert "-  colour: red" in shown.out
    assert "+  colour: blue" in shown.out
    assert kubectl.run("diff", "-f", "-", stdin=CONFIG).code == 0


def test_server_side_apply_tells_conflicts_and_can_force(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG, "--server-side", "--field-manager=first")
    changed = CONFIG.replace("red", "blue")
    refused = kubectl.run("apply", "--server-side", "--field-manager=second", "-f", "-", stdin=changed)
    assert refused.code == 1, refused
    assert 'conflict with "first"' in refused.err
    assert ".data.colour" in refused.err
    kubectl.apply(changed, "--server-side", "--field-manager=second", "--force-conflicts")
    assert kubectl.get("configmap", "settings")["data"] == {"colour": "blue", "size": "1"}


def test_fields_are_explained(kubectl: Kubectl) -> None:
    explained = kubectl("explain", "deployment.spec.strategy.rollingUpdate")
    assert "maxSurge" in explained
    assert "maxUnavailable" in explained
    assert "minSubGroup" in kubectl("explain", "podgroups.scheduling.run.ai.spec")


def test_permission_is_asked_for(kubectl: Kubectl) -> None:
    assert kubectl("auth", "can-i", "create", "pods").strip() == "yes"
    account = f"system:serviceaccount:{kubectl.namespace}:default"
    asked = kubectl.run("auth", "can-i", "delete", "nodes", "--as", account)
    assert asked.out.strip().startswith("no"), asked


def test_changes_are_watched(kubectl: Kubectl) -> None:
    watching = kubectl.start("get", "configmap", "--watch", "--no-headers", "-o", "name")
    assert watching.stdout is not None
    try:
        kubectl.apply(CONFIG)
        seen: list[str] = []
        for line in watching.stdout:
            seen.append(line.strip())
            if line.strip() == "configmap/settings":
                break
        assert seen[-1] == "configmap/settings"
    finally:
        watching.terminate()
        watching.communicate()


def test_unknown_field_is_refused_by_name(kubectl: Kubectl) -> None:
    refused = kubectl.run("apply", "-f", "-", stdin=CONFIG + "colour: red\n")
    assert refused.code == 1
    assert 'unknown field "colour"' in refused.err


def test_wrong_type_is_refused_by_name(kubectl: Kubectl) -> None:
    refused = kubectl.run("apply", "-f", "-", stdin=DEPLOYMENT.replace("replicas: 2", "replicas: two"))
    assert refused.code == 1
    assert "replicas" in refused.err


def test_unknown_kind_says_that_no_such_resource_is_served(kubectl: Kubectl) -> None:
    refused = kubectl.run("get", "flowers")
    assert refused.code == 1
    assert 'the server doesn\'t have a resource type "flowers"' in refused.err


def test_labels_and_fields_select(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG)
    kubectl("label", "configmap", "settings", "tier=gold")
    assert kubectl("get", "configmap", "-l", "tier in (gold)", "-o", "name").strip() == "configmap/settings"
    named = kubectl("get", "configmap", "--field-selector", "metadata.name=settings", "-o", "name")
    assert named.strip() == "configmap/settings"
    assert kubectl("get", "configmap", "-l", "tier=silver", "-o", "name").strip() == ""


def test_fields_are_patched_in_every_way(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG)
    kubectl("patch", "configmap", "settings", "--type=merge", "-p", '{"data":{"size":"2"}}')
    kubectl(
        "patch",
        "configmap",
        "settings",
        "--type=json",
        "-p",
        '[{"op":"replace","path":"/data/colour","value":"green"}]',
    )
    assert kubectl.get("configmap", "settings")["data"] == {"colour": "green", "size": "2"}
    kubectl.apply(DEPLOYMENT)
    kubectl(
        "patch",
        "deployment",
        "web",
        "-p",
        '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"example/side:1"}]}}}}',
    )
    containers = kubectl.get("deployment", "web")["spec"]["template"]["spec"]["containers"]
    assert [container["name"] for container in containers] == ["side", "app"]


def test_dry_run_changes_nothing(kubectl: Kubectl) -> None:
    assert "(server dry run)" in kubectl.apply(CONFIG, "--dry-run=server")
    assert kubectl.run("get", "configmap", "settings").code == 1


def test_eviction_honours_a_disruption_budget(kubectl: Kubectl) -> None:
    kubectl.apply(DEPLOYMENT)
    kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    kubectl("create", "poddisruptionbudget", "web", "--selector=app=web", "--min-available=2")
    allowed = "jsonpath={.status.disruptionsAllowed}"
    eventually(lambda: kubectl("get", "pdb", "web", "-o", allowed), until=lambda text: text == "0")
    pod = kubectl.get("pods", "-l", "app=web")["items"][0]["metadata"]["name"]
    body = f'{{"apiVersion":"policy/v1","kind":"Eviction","metadata":{{"name":"{pod}"}}}}'
    path = f"/api/v1/namespaces/{kubectl.namespace}/pods/{pod}/eviction"
    refused = kubectl.run("create", "--raw", path, "-f", "-", stdin=body)
    assert refused.code == 1
    assert "Cannot evict pod as it would violate the pod's disruption budget." in refused.err


def test_job_runs_to_completion(kubectl: Kubectl) -> None:
    kubectl.apply(f"""
apiVersion: batch/v1
kind: Job
metadata: {{name: sums}}
spec:
  completions: 2
  parallelism: 2
  completionMode: Indexed
  template:
    metadata: {{annotations: {{quorate.dev/fake-run-seconds: "1"}}}}
    spec:
      schedulerName: quorate
      restartPolicy: Never{CONTAINERS}
""")
    kubectl("wait", "job/sums", "--for=condition=Complete", "--timeout=30s")
    row = kubectl("get", "job", "sums", "--no-headers").split()
    assert row[:3] == ["sums", "Complete", "2/2"]


def test_stateful_pods_have_ordinals_and_claims(kubectl: Kubectl) -> None:
    kubectl.apply(f"""
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db}}
spec:
  replicas: 2
  serviceName: db
  selector: {{matchLabels: {{app: db}}}}
  template:
    metadata: {{labels: {{app: db}}}}
    spec:
      schedulerName: quorate{CONTAINERS}
""")
    kubectl("rollout", "status", "statefulset/db", "--timeout=30s")
    assert kubectl("get", "pods", "-l", "app=db", "-o", "name").split() == ["pod/db-0", "pod/db-1"]


def test_log_of_a_running_pod_is_read(cluster: Cluster, kubectl: Kubectl) -> None:
    if not cluster.is_embedded:
        pytest.skip("a real API server asks the kubelet for logs, and there is none")
    kubectl.apply(POD)
    kubectl("wait", "pod/one", "--for=condition=Ready", "--timeout=30s")
    shown = kubectl.run("logs", "one")
    assert shown.code == 0, shown
    assert shown.out
