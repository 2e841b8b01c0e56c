"""Pods: defaults, refusals, binding, eviction, status, deletion. No scheduler of that name exists."""

from dataclasses import replace
from typing import Any

from conformance.scenarios.step import MERGE, TABLE, Json, Step, delete, get, patch, post, put, scenario

NODE: Json = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "{ns}-node"}}


def pod(name: str, **spec: Any) -> Json:
    """A pod that nothing in a cluster touches."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "p"}},
        "spec": {
            "schedulerName": "parity",
            "automountServiceAccountToken": False,
            "containers": [{"name": "a", "image": "example/a"}],
            **spec,
        },
    }


def binding(name: str, node: str, **meta: Any) -> Step:
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name, **meta},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    return post(f"pods/{name}/binding", body)


def eviction(name: str, **options: Any) -> Step:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, **options}
    return post(f"pods/{name}/eviction", body)


def status(name: str, value: Json) -> Step:
    return patch(f"pods/{name}/status", {"status": value}, MERGE)


RUNNING: Json = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
BUDGET: Json = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "budget"},
    "spec": {"minAvailable": 5, "selector": {"matchLabels": {"app": "p"}}},
}
GPU: Json = {"limits": {"nvidia.com/gpu": "2", "cpu": "0.5", "memory": "1Gi"}}

SCENARIOS = (
    scenario(
        "pods and their defaults",
        post("pods", pod("plain")),
        post("pods", pod("gpus", containers=[{"name": "a", "image": "example/a:latest", "resources": GPU}])),
        post("pods", pod("gated", schedulingGates=[{"name": "example.test/gate"}])),
        post(
            "pods",
            pod(
                "host",
                hostNetwork=True,
                containers=[{"name": "a", "image": "i:1", "ports": [{"containerPort": 8}]}],
            ),
        ),
        get("pods", TABLE),
        delete("pods/plain", {"gracePeriodSeconds": 0}),
        get("pods/plain"),
    ),
    scenario(
        "pods that are refused",
        post("pods", pod("none", containers=[])),
        post("pods", pod("twice", containers=[{"name": "a", "image": "i"}, {"name": "a", "image": "i"}])),
        post("pods", pod("nameless", containers=[{"image": "i"}])),
        post("pods", pod("imageless", containers=[{"name": "a"}])),
        post("pods", pod("policy", restartPolicy="Sometimes")),
        post(
            "pods",
            pod(
                "part",
                containers=[{"name": "a", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "0.5"}}}],
            ),
        ),
        post(
            "pods",
            pod(
                "less",
                containers=[
                    {
                        "name": "a",
                        "image": "i",
                        "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
                    }
                ],
            ),
        ),
        post(
            "pods",
            pod(
                "words", containers=[{"name": "a", "image": "i", "resources": {"requests": {"cpu": "much"}}}]
            ),
        ),
        post(
            "pods",
            pod(
                "unequal",
                containers=[{"name": "a", "image": "i", "resources": {"requests": {"nvidia.com/gpu": "1"}}}],
            ),
        ),
        post("pods", pod("class", priorityClassName="{ns}-absent")),
        post("pods", pod("grace", terminationGracePeriodSeconds=-5)),
        post("pods", pod("taint", tolerations=[{"operator": "Maybe"}])),
    ),
    scenario(
        "changes of pods",
        post("pods", pod("one")),
        patch("pods/one", {"spec": {"containers": [{"name": "a", "image": "example/b"}]}}, MERGE),
        patch("pods/one", {"spec": {"nodeName": "n"}}, MERGE),
        patch("pods/one", {"spec": {"schedulerName": "other"}}, MERGE),
        patch("pods/one", {"spec": {"priority": 7}}, MERGE),
        patch("pods/one", {"metadata": {"annotations": {"a": "b"}}}, MERGE),
        put("pods/one", pod("one") | {"status": {"phase": "Running"}}),
        status("one", RUNNING),
    ),
    scenario(
        "binding",
        post("/api/v1/nodes", NODE),
        post("pods", pod("one")),
        binding("absent", "{ns}-node"),
        binding("one", "{ns}-node", uid="other"),
        binding("one", "{ns}-node", resourceVersion="1"),
        binding("one", ""),
        binding("one", "{ns}-node", annotations={"bound": "yes"}),
        binding("one", "{ns}-node"),
        get("pods/one", only=("spec", "status", "kind")),
        post("pods", pod("gated", schedulingGates=[{"name": "example.test/gate"}])),
        binding("gated", "{ns}-node"),
        delete("pods/one", {"gracePeriodSeconds": 0}),
        delete("/api/v1/nodes/{ns}-node"),
    ),
    scenario(
        "eviction",
        post("pods", pod("free")),
        eviction("absent"),
        eviction("free", deleteOptions={"dryRun": ["All"]}),
        eviction("free", deleteOptions={"preconditions": {"uid": "other"}}),
        eviction("free"),
        get("pods/free"),
    ),
    scenario(
        "budgets",
        post("/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets", BUDGET),
        post("/api/v1/nodes", NODE | {"metadata": {"name": "{ns}-b"}}),
        post("pods", pod("held", nodeName="{ns}-b")),
        status("held", RUNNING),
        replace(eviction("held"), only=("kind", "message", "reason", "code")),
        delete("pods/held", {"gracePeriodSeconds": 0}),
        delete("/api/v1/nodes/{ns}-b"),
    ),
    scenario(
        "graceful deletion",
        post("/api/v1/nodes", NODE | {"metadata": {"name": "{ns}-c"}}),
        post("pods", pod("slow", nodeName="{ns}-c", terminationGracePeriodSeconds=60)),
        delete("pods/slow"),
        delete("pods/slow", {"gracePeriodSeconds": 10}),
        binding("slow", "{ns}-c"),
        delete("pods/slow", {"gracePeriodSeconds": 0}),
        get("pods/slow"),
        delete("/api/v1/nodes/{ns}-c"),
    ),
    scenario(
        "logs and other subresources",
        post("pods", pod("one")),
        get("pods/one/nonsense"),
        get("pods/one/status"),
    ),
)
