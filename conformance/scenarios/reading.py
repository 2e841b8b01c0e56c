"""Lists with selectors, limits and versions, watches, tables, metadata only."""

from conformance.scenarios.step import (
    PARTIAL,
    PARTIAL_LIST,
    TABLE,
    Step,
    config_map,
    delete,
    get,
    post,
    put,
    scenario,
)


def labelled(name: str, **labels: str) -> Step:
    return post("configmaps", config_map(name) | {"metadata": {"name": name, "labels": {"x": "1", **labels}}})


MINE = "configmaps?labelSelector=x%3D1"
THREE = (labelled("a", tier="gold"), labelled("b", tier="silver"), labelled("c"))
BODIES = ("kind", "apiVersion", "items")

SCENARIOS = (
    scenario(
        "label selectors",
        *THREE,
        get(f"{MINE},tier"),
        get(f"{MINE},!tier"),
        get(f"{MINE},tier%20in%20(gold,bronze)"),
        get(f"{MINE},tier%20notin%20(gold)"),
        get(f"{MINE},tier!=gold"),
        get("configmaps?labelSelector=a%20b%20c"),
    ),
    scenario(
        "field selectors",
        *THREE,
        get("configmaps?fieldSelector=metadata.name%3Db"),
        get("configmaps?labelSelector=x%3D1&fieldSelector=metadata.name!%3Db"),
        get("configmaps?fieldSelector=data.x%3D1"),
        get("pods?fieldSelector=spec.nodeName%3D,status.phase%3DRunning"),
    ),
    scenario(
        "limit and continue",
        *THREE,
        get(f"{MINE}&limit=2"),
        get(f"{MINE}&limit=2&continue=$continue"),
        get(f"{MINE}&limit=2&continue=broken"),
    ),
    scenario(
        "resource versions of lists",
        *THREE,
        get(f"{MINE}&resourceVersion=$rv1&resourceVersionMatch=Exact"),
        get(f"{MINE}&resourceVersion=$rv2&resourceVersionMatch=NotOlderThan"),
        # A real server reads this from its watch cache, which the request above has waited for.
        get(f"{MINE}&resourceVersion=0"),
        get(f"{MINE}&resourceVersionMatch=Exact"),
        get(f"{MINE}&resourceVersion=abc"),
    ),
    scenario(
        "watch from a version",
        labelled("a"),
        put("configmaps/a", config_map("a", k="1") | {"metadata": {"name": "a", "labels": {"x": "1"}}}),
        delete("configmaps/a"),
        get(f"{MINE}&watch=1&timeoutSeconds=1&resourceVersion=$rv0"),
    ),
    scenario(
        "watch sees what enters and leaves a selector",
        labelled("a"),
        put("configmaps/a", config_map("a")),
        put("configmaps/a", config_map("a") | {"metadata": {"name": "a", "labels": {"x": "1"}}}),
        get(f"{MINE}&watch=1&timeoutSeconds=1&resourceVersion=$rv0"),
    ),
    scenario("watch from now", *THREE, get(f"{MINE}&watch=1&timeoutSeconds=1")),
    scenario(
        "initial events",
        *THREE,
        get(
            f"{MINE}&watch=1&timeoutSeconds=2&sendInitialEvents=true&allowWatchBookmarks=true"
            "&resourceVersionMatch=NotOlderThan"
        ),
    ),
    scenario(
        "watches that cannot be",
        get("configmaps?watch=1&timeoutSeconds=1&resourceVersion=abc"),
        get("configmaps?watch=1&timeoutSeconds=1&sendInitialEvents=true"),
    ),
    scenario(
        "tables",
        *THREE,
        get("configmaps/a", TABLE),
        get(MINE, TABLE),
        get("secrets?labelSelector=none", TABLE),
        get("services?labelSelector=none", TABLE),
        get("pods?labelSelector=none", TABLE),
        get("/apis/apps/v1/namespaces/{ns}/deployments", TABLE),
        get("/apis/apps/v1/namespaces/{ns}/statefulsets", TABLE),
        get("/apis/apps/v1/namespaces/{ns}/replicasets", TABLE),
        get("/apis/batch/v1/namespaces/{ns}/jobs", TABLE),
        get("/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets", TABLE),
        get("/apis/coordination.k8s.io/v1/namespaces/{ns}/leases", TABLE),
        get("/apis/scheduling.k8s.io/v1/priorityclasses?labelSelector=none", TABLE),
        get("/api/v1/nodes?labelSelector=none", TABLE),
        get("/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles", TABLE),
        get("events?fieldSelector=reason%3Dnone", TABLE),
    ),
    scenario(
        "metadata only",
        labelled("a"),
        get("configmaps/a", PARTIAL),
        get(MINE, PARTIAL_LIST),
    ),
)
