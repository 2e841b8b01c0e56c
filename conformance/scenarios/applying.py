"""Server-side apply: ownership, conflicts, force, giving up fields, several managers."""

from conformance.scenarios.patching import POD_TEMPLATE, T, containers
from conformance.scenarios.step import (
    MERGE,
    STRATEGIC,
    Json,
    apply,
    config_map,
    get,
    patch,
    post,
    put,
    scenario,
)

ONE = "configmaps/one"


def template(image: str, **port: int) -> Json:
    ports = [{"containerPort": value} for value in port.values()]
    spec: Json = {"containers": [{"name": "a", "image": image, "ports": ports}]}
    return POD_TEMPLATE | {"template": {"metadata": {"labels": {"app": "web"}}, "spec": spec}}


SCENARIOS = (
    scenario(
        "apply creates and changes",
        apply(ONE, config_map("one", a="1")),
        apply(ONE, config_map("one", a="1")),
        apply(ONE, config_map("one", a="2", b="3")),
        apply(ONE, config_map("one", b="3")),
        get(ONE),
    ),
    scenario(
        "apply conflicts",
        apply(ONE, config_map("one", a="1", b="1"), "first"),
        apply(ONE, config_map("one", a="2"), "second"),
        apply(ONE, config_map("one", a="1"), "second"),
        apply(ONE, config_map("one", a="3", b="3"), "third", force=True),
        apply(ONE, config_map("one", b="1"), "first"),
        get(ONE),
    ),
    scenario(
        "apply after an update",
        post("configmaps?fieldManager=writer", config_map("one", a="1")),
        apply(ONE, config_map("one", a="2"), "first"),
        apply(ONE, config_map("one", a="2"), "first", force=True),
        put(f"{ONE}?fieldManager=writer", config_map("one", a="3", b="4")),
        apply(ONE, config_map("one", a="2"), "first"),
        patch(f"{ONE}?fieldManager=patcher", {"data": {"b": None}}, MERGE),
        get(ONE),
    ),
    scenario(
        "apply lists by key",
        apply(T, template("example/a:1", http=80), "first"),
        apply(T, template("example/a:1", metrics=9090), "second"),
        apply(T, template("example/a:1"), "first"),
        patch(f"{T}?fieldManager=third", containers({"name": "b", "image": "example/b:1"}), STRATEGIC),
        apply(T, template("example/a:2"), "second"),
        get(T),
    ),
    scenario(
        "apply of nulls",
        apply(ONE, config_map("one", a="1", b="1") | {"metadata": {"name": "one", "labels": {"x": "y"}}}),
        apply(ONE, config_map("one", a=None, b="1") | {"metadata": {"name": "one", "labels": {"x": None}}}),
        apply(ONE, config_map("one") | {"data": None}, "second"),
        apply(ONE, config_map("one") | {"data": None}),
        apply(T, template("example/a:1", http=80)),
        apply(T, template("example/a:1") | {"template": {"metadata": None, "spec": {"containers": None}}}),
        apply(T, template("example/a:1"), "second"),
    ),
    scenario(
        "apply that cannot be",
        apply(ONE, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one"}}),
        apply(ONE, {"kind": "ConfigMap", "metadata": {"name": "one"}}),
        apply(ONE, config_map("other", a="1")),
        apply(ONE, config_map("one") | {"metadata": {"name": "one", "managedFields": [{"manager": "x"}]}}),
        patch(ONE, config_map("one"), "application/apply-patch+yaml"),
        apply(ONE, config_map("one") | {"metadata": {"name": "one", "resourceVersion": "1"}}),
    ),
    scenario(
        "dry run of an apply",
        apply(ONE, config_map("one", a="1")),
        apply(f"{ONE}", config_map("one", a="2"), "first&dryRun=All"),
        get(ONE),
    ),
    scenario(
        "managed fields are cleared",
        apply(ONE, config_map("one", a="1")),
        patch(ONE, {"metadata": {"managedFields": [{}]}}, MERGE),
    ),
)
