"""What a server answers to requests that are wrong."""

from conformance.scenarios.step import MERGE, Json, Step, config_map, get, patch, post, put, scenario

SERVICE: Json = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web"},
    "spec": {"clusterIP": "None", "selector": {"app": "web"}, "ports": [{"port": 80}]},
}
GOOD: Json = {"containers": [{"name": "a", "image": "example/a:1"}]}


def pod_template(**template: Json) -> Step:
    body = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "t"}, "template": template}
    return post("podtemplates", body)


def named(name: str, **meta: object) -> Json:
    return config_map(name) | {"metadata": {"name": name, **meta}}


SCENARIOS = (
    scenario(
        "things that are not there",
        get("configmaps/absent"),
        get("nonsense"),
        get("nonsense/one"),
        get("/apis/example.test/v1/things"),
        get("/apis/apps/v9/deployments"),
        get("/api/v1/namespaces/absent/configmaps/one"),
        get("configmaps/one/status"),
        get("/nowhere"),
    ),
    scenario(
        "methods that are not served",
        Step("PUT", "configmaps", config_map("one")),
        Step("POST", "configmaps/one", config_map("one")),
        Step("PATCH", "configmaps", {}),
        Step("DELETE", "/api/v1/namespaces"),
    ),
    scenario(
        "changes that are not valid",
        post("configmaps", config_map("one")),
        # A real server finds the cause twice and says it once.
        Step(
            "PATCH", "configmaps/one", {"metadata": {"finalizers": ["bare"]}}, MERGE, only=("message", "code")
        ),
        post("services", SERVICE),
        patch("services/web", {"spec": {"clusterIP": "192.0.2.1"}}, MERGE),
    ),
    scenario(
        "pod templates that are not valid",
        pod_template(),
        pod_template(spec={"containers": []}),
        pod_template(spec={"containers": [{"name": "A_", "image": ""}]}),
        pod_template(metadata={"labels": {"a b": "c d"}, "annotations": {"x y": "z"}}, spec=GOOD),
    ),
    scenario(
        "bodies that are not read",
        Step("POST", "configmaps", "{broken"),
        Step("POST", "configmaps", "[]"),
        Step("POST", "configmaps", ""),
        Step("POST", "configmaps", config_map("one"), "text/plain"),
        post("configmaps", {"apiVersion": "v1", "kind": "ConfigMap"}),
        post("configmaps", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one"}}),
        post("configmaps", {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "one"}}),
        post("configmaps", {"metadata": {"name": "one"}}),
        post("configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": 1}}),
        post("configmaps", config_map("one") | {"data": {"a": 1}}),
        post("configmaps", config_map("one") | {"data": ["a"]}),
    ),
    scenario(
        "field validation",
        post("configmaps?fieldValidation=Strict", config_map("one") | {"extra": 1}),
        post("configmaps?fieldValidation=Warn", config_map("one") | {"extra": 1}),
        post("configmaps?fieldValidation=Ignore", config_map("two") | {"extra": 1}),
        post("configmaps?fieldValidation=Sometimes", config_map("three")),
    ),
    scenario(
        "metadata that is refused",
        post("configmaps", named("Upper")),
        post("configmaps", named("a" * 254)),
        post("configmaps", named("-a")),
        post("configmaps", named("one", labels={"bad key": "v"})),
        post("configmaps", named("one", labels={"k": "bad value!"})),
        post("configmaps", named("one", annotations={"bad key": "v"})),
        post("configmaps", named("one", namespace="other")),
        post("configmaps", named("one", finalizers=["nodomain"])),
        post("configmaps", named("one", ownerReferences=[{"kind": "Pod", "name": "p"}])),
        post("configmaps", named("one", resourceVersion="5")),
        post("configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}),
    ),
    scenario(
        "replace that is refused",
        put("configmaps/one", config_map("one")),
        post("configmaps", config_map("one")),
        put("configmaps/one", config_map("two")),
        put("configmaps/one", named("one", namespace="other")),
        put("configmaps/one", named("one", resourceVersion="abc")),
    ),
    scenario(
        "namespaces that are not there",
        post("/api/v1/namespaces/absent/configmaps", config_map("one")),
        post(
            "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "Bad_Name"}}
        ),
    ),
    scenario(
        "objects that are invalid",
        post(
            "secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "***"}}
        ),
        post(
            "secrets",
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a b": "YQ=="}},
        ),
        post("services", {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {}}),
        post(
            "services",
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "1s"},
                "spec": {"ports": [{"port": 0}]},
            },
        ),
        post(
            "/apis/apps/v1/namespaces/{ns}/deployments",
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "d"},
                "spec": {"replicas": -1},
            },
        ),
        post(
            "/apis/apps/v1/namespaces/{ns}/deployments",
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "d"},
                "spec": {
                    "selector": {"matchLabels": {"a": "b"}},
                    "template": {
                        "metadata": {"labels": {"a": "c"}},
                        "spec": {"containers": [{"name": "a", "image": "i"}]},
                    },
                },
            },
        ),
        post(
            "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets",
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "p"},
                "spec": {"minAvailable": 1, "maxUnavailable": 1},
            },
        ),
    ),
)
