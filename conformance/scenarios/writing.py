"""Create, replace and delete: names, versions, preconditions, propagation, dry runs."""

from conformance.scenarios.step import Json, config_map, delete, get, post, put, scenario

SECRET: Json = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s"},
    "stringData": {"user": "me"},
    "data": {"key": "dmFsdWU="},
}
SERVICE: Json = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web"},
    "spec": {"clusterIP": "None", "selector": {"app": "web"}, "ports": [{"port": 80}]},
}
HELD: Json = config_map("held", a="1") | {"metadata": {"name": "held", "finalizers": ["example.test/hold"]}}

SCENARIOS = (
    scenario(
        "create, get, replace, delete",
        post("configmaps", config_map("one", a="1")),
        get("configmaps/one"),
        put("configmaps/one", config_map("one", a="2", b="3")),
        delete("configmaps/one"),
        get("configmaps/one"),
    ),
    scenario(
        "create twice",
        post("configmaps", config_map("one", a="1")),
        post("configmaps", config_map("one", a="2")),
    ),
    scenario(
        "generated names",
        post("configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "made-"}}),
    ),
    scenario(
        "optimistic concurrency",
        post("configmaps", config_map("one", a="1")),
        put("configmaps/one", config_map("one", a="2")),
        put("configmaps/one", config_map("one") | {"metadata": {"name": "one", "resourceVersion": "$rv0"}}),
        put("configmaps/one", config_map("one") | {"metadata": {"name": "one", "resourceVersion": "$rv1"}}),
        put("configmaps/one", config_map("one") | {"metadata": {"name": "one", "uid": "other"}}),
    ),
    scenario(
        "a replace that changes nothing",
        post("configmaps", config_map("one", a="1")),
        put("configmaps/one", config_map("one", a="1")),
    ),
    scenario(
        "dry runs",
        post("configmaps?dryRun=All", config_map("one", a="1")),
        get("configmaps/one"),
        post("configmaps?dryRun=Some", config_map("one", a="1")),
        post("configmaps", config_map("one", a="1")),
        put("configmaps/one?dryRun=All", config_map("one", a="2")),
        delete("configmaps/one?dryRun=All"),
        get("configmaps/one"),
    ),
    scenario(
        "delete preconditions",
        post("configmaps", config_map("one", a="1")),
        delete("configmaps/one", {"preconditions": {"uid": "other"}}),
        delete("configmaps/one", {"preconditions": {"resourceVersion": "1"}}),
        delete("configmaps/one", {"preconditions": {"uid": "$uid0"}}),
    ),
    scenario(
        "finalizers",
        post("configmaps", HELD),
        delete("configmaps/held"),
        get("configmaps/held"),
        delete("configmaps/held"),
        put("configmaps/held", config_map("held", a="2")),
        get("configmaps/held"),
    ),
    scenario(
        "propagation policies",
        post("configmaps", config_map("one")),
        delete("configmaps/one", {"propagationPolicy": "Sideways"}),
        delete("configmaps/one", {"propagationPolicy": "Foreground", "orphanDependents": True}),
        delete("configmaps/one", {"propagationPolicy": "Background"}),
    ),
    scenario(
        "delete a collection",
        post("configmaps", config_map("one") | {"metadata": {"name": "one", "labels": {"go": "yes"}}}),
        post("configmaps", config_map("two") | {"metadata": {"name": "two"}}),
        delete("configmaps?labelSelector=go%3Dyes"),
        get("configmaps?labelSelector=go"),
        get("configmaps/two"),
    ),
    scenario(
        "secrets", post("secrets", SECRET), get("secrets/s"), put("secrets/s", SECRET | {"type": "Other"})
    ),
    scenario("headless services", post("services", SERVICE), get("services/web")),
    scenario(
        "immutable config maps",
        post("configmaps", config_map("one", a="1") | {"immutable": True}),
        put("configmaps/one", config_map("one", a="2") | {"immutable": True}),
    ),
    scenario(
        "priority classes",
        post(
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": "{ns}-high"},
                "value": 7,
            },
        ),
        get("/apis/scheduling.k8s.io/v1/priorityclasses/{ns}-high"),
        delete("/apis/scheduling.k8s.io/v1/priorityclasses/{ns}-high"),
    ),
    scenario(
        "leases",
        post(
            "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases",
            {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": "leader"},
                "spec": {
                    "holderIdentity": "a",
                    "leaseDurationSeconds": 15,
                    "renewTime": "2026-01-01T00:00:00.000000Z",
                },
            },
        ),
        get("/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/leader"),
    ),
)
