"""JSON patch, merge patch and strategic merge patch, and what they refuse."""

from conformance.scenarios.step import (
    JSON,
    JSON_PATCH,
    MERGE,
    STRATEGIC,
    Json,
    Step,
    config_map,
    get,
    patch,
    post,
    scenario,
)

DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
WEB = f"{DEPLOYMENTS}/web"
# what controllers do not write, so that it is the same at any moment
UNTOUCHED = ("kind", "apiVersion", "spec", "code", "message", "reason", "details")
TEMPLATE: Json = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {
        "containers": [
            {"name": "a", "image": "example/a:1", "ports": [{"containerPort": 80}]},
            {"name": "b", "image": "example/b:1", "env": [{"name": "K", "value": "1"}]},
        ]
    },
}
DEPLOYMENT: Json = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE},
}
# a PodTemplate has a pod's lists and no controller
POD_TEMPLATE: Json = {
    "apiVersion": "v1",
    "kind": "PodTemplate",
    "metadata": {"name": "t"},
    "template": TEMPLATE,
}
T = "podtemplates/t"


def containers(*changes: Json) -> Json:
    return {"template": {"spec": {"containers": list(changes)}}}


SCENARIOS = (
    scenario(
        "merge patch",
        post("configmaps", config_map("one", a="1", b="2")),
        patch("configmaps/one", {"data": {"a": None, "c": "3"}}, MERGE),
        patch("configmaps/one", {"data": None}, MERGE),
        patch("configmaps/one", {"metadata": {"labels": {"k": "v"}}}, MERGE),
        patch("configmaps/one", {"metadata": {"name": "two"}}, MERGE),
        patch("configmaps/one", {"metadata": {"resourceVersion": "1"}}, MERGE),
        patch("configmaps/absent", {"data": {"a": "1"}}, MERGE),
        patch("configmaps/one", {"data": "text"}, MERGE),
    ),
    scenario(
        "JSON patch",
        post("configmaps", config_map("one", a="1", b="2")),
        patch("configmaps/one", [{"op": "add", "path": "/data/c", "value": "3"}], JSON_PATCH),
        patch("configmaps/one", [{"op": "remove", "path": "/data/a"}], JSON_PATCH),
        patch("configmaps/one", [{"op": "test", "path": "/data/b", "value": "9"}], JSON_PATCH),
        patch("configmaps/one", [{"op": "remove", "path": "/data/absent"}], JSON_PATCH),
        patch("configmaps/one", [{"op": "move", "from": "/data/b", "path": "/data/d"}], JSON_PATCH),
        patch("configmaps/one", [{"op": "copy", "from": "/data/d", "path": "/data/e"}], JSON_PATCH),
        patch("configmaps/one", {"op": "add"}, JSON_PATCH),
    ),
    scenario(
        "strategic merge patch",
        post("podtemplates", POD_TEMPLATE),
        patch(T, containers({"name": "a", "image": "example/a:2"}), STRATEGIC),
        patch(T, containers({"name": "c", "image": "example/c:1"}), STRATEGIC),
        patch(T, containers({"name": "c", "$patch": "delete"}), STRATEGIC),
        patch(T, {"metadata": {"labels": {"$patch": "merge", "a": None}}}, STRATEGIC),
        patch(T, containers({"name": "b", "env": [{"name": "L", "value": "2"}]}), STRATEGIC),
        patch(T, containers({"name": "b", "env": [{"name": "K", "$patch": "delete"}]}), STRATEGIC),
        patch(
            T,
            {"template": {"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}}},
            STRATEGIC,
        ),
        patch(T, {"metadata": {"finalizers": ["example.test/x"]}}, STRATEGIC),
        patch(T, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.test/x"]}}, STRATEGIC),
        patch(T, containers({"image": "nameless"}), STRATEGIC),
    ),
    scenario(
        "patches of a wrong type",
        post("configmaps", config_map("one")),
        patch("configmaps/one", {"data": {}}, JSON),
        patch("configmaps/one", {"data": {}}, "text/plain"),
    ),
    scenario(
        "scale",
        post(DEPLOYMENTS, DEPLOYMENT),
        get(f"{WEB}/scale", only=UNTOUCHED),
        Step("PATCH", f"{WEB}/scale", {"spec": {"replicas": -1}}, MERGE, only=UNTOUCHED),
        Step(
            "PATCH",
            f"{WEB}/status",
            {"status": {"replicas": 5}, "spec": {"replicas": 9}},
            MERGE,
            only=UNTOUCHED,
        ),
        Step(
            "PATCH",
            WEB,
            {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
            STRATEGIC,
            only=UNTOUCHED,
        ),
    ),
    scenario(
        "defaults of workloads",
        post(DEPLOYMENTS, DEPLOYMENT),
        post(
            "/apis/batch/v1/namespaces/{ns}/jobs",
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": "j"},
                "spec": {
                    "suspend": True,
                    "template": {
                        "spec": {
                            "restartPolicy": "Never",
                            "containers": [{"name": "a", "image": "example/a"}],
                        }
                    },
                },
            },
        ),
        post(
            "/apis/apps/v1/namespaces/{ns}/statefulsets",
            {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "metadata": {"name": "s"},
                "spec": {
                    "replicas": 0,
                    "serviceName": "s",
                    "selector": {"matchLabels": {"app": "s"}},
                    "template": TEMPLATE | {"metadata": {"labels": {"app": "s"}}},
                },
            },
        ),
    ),
)
