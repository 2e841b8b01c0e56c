"""CustomResourceDefinitions: schema, pruning, defaults, CEL rules, subresources, tables, versions."""

from typing import Any

from conformance.scenarios.step import (
    MERGE,
    STRATEGIC,
    TABLE,
    Json,
    Step,
    apply,
    delete,
    get,
    patch,
    post,
    put,
    scenario,
)

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "{ns}.example.test"
NAME = f"things.{GROUP}"
THINGS = f"/apis/{GROUP}/v1/namespaces/{{ns}}/things"
SPEC: Json = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 9},
        "colour": {"type": "string", "enum": ["red", "green"], "default": "red"},
        "replicas": {"type": "integer", "default": 1},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "port": {"x-kubernetes-int-or-string": True},
        "name": {"type": "string", "maxLength": 5, "pattern": "^[a-z]*$"},
        "parts": {
            "type": "array",
            "maxItems": 5,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string", "maxLength": 20}, "weight": {"type": "integer"}},
            },
        },
        "tags": {
            "type": "array",
            "x-kubernetes-list-type": "set",
            "maxItems": 5,
            "items": {"type": "string"},
        },
    },
    "x-kubernetes-validations": [
        {"rule": "self.size != 7", "message": "size must not be 7"},
        {
            "rule": "!has(self.name) || self.size > 1",
            "messageExpression": "'a name needs more than size 1'",
        },
        {"rule": "self.size >= oldSelf.size", "message": "size must not shrink", "fieldPath": ".size"},
    ],
}
VERSION: Json = {
    "name": "v1",
    "served": True,
    "storage": True,
    "subresources": {
        "status": {},
        "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
    },
    "additionalPrinterColumns": [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ],
    "schema": {
        "openAPIV3Schema": {
            "type": "object",
            "properties": {
                "spec": SPEC,
                "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
            },
        }
    },
}
CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": NAME},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "versions": [VERSION, {**VERSION, "name": "v1beta1", "storage": False, "deprecated": True}],
    },
}


def thing(called: str, **spec: Any) -> Json:
    return {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": called}, "spec": spec}


# a whole number has no fields
_RULED = {"type": "integer", "x-kubernetes-validations": [{"rule": "self.b"}]}
UNTYPED = VERSION | {"schema": {"openAPIV3Schema": {"type": "object", "properties": {"a": _RULED}}}}


def created(called: str, **spec: Any) -> Step:
    return post(THINGS, thing(called, **spec))


def installed(name: str, *steps: Step) -> Any:
    """A scenario with the definition installed and served, and removed at the end."""
    served = Step("GET", THINGS, is_setup=True)
    return scenario(
        name,
        Step("POST", CRDS, CRD, is_setup=True),
        served,
        *steps,
        Step("DELETE", f"{CRDS}/{NAME}", is_setup=True),
    )


def broken(**changes: Any) -> Step:
    return post(CRDS, CRD | {"spec": CRD["spec"] | changes})


SCENARIOS = (
    installed(
        "custom objects",
        created("one", size=2, unknown=1, free={"any": "thing"}),
        get(f"{THINGS}/one"),
        put(f"{THINGS}/one", thing("one", size=3) | {"metadata": {"name": "one", "resourceVersion": "$rv"}}),
        get(THINGS, TABLE),
        get(f"/apis/{GROUP}/v1beta1/namespaces/{{ns}}/things/one"),
        get(f"/apis/{GROUP}/v1"),
        delete(f"{THINGS}/one"),
    ),
    installed(
        "schemas",
        created("a"),
        created("a", size="2"),
        created("a", size=0),
        created("a", size=10),
        created("a", size=2, colour="blue"),
        created("a", size=2, name="toolong"),
        created("a", size=2, name="AB"),
        created("a", size=2, port="http"),
        created("b", size=2, port=True),
        created("c", size=2, parts=[{"name": "x"}, {"name": "x"}]),
        created("d", size=2, tags=["t", "t"]),
        created("e", size=2, parts=[{"weight": 1}]),
        created("f", size=None),
        created("g", size=2, colour=None),
        post(f"{THINGS}?fieldValidation=Strict", thing("h", size=2, unknown=1)),
    ),
    installed(
        "CEL rules",
        created("a", size=7),
        created("a", size=1, name="x"),
        created("a", size=5),
        patch(f"{THINGS}/a", {"spec": {"size": 4}}, MERGE),
        patch(f"{THINGS}/a", {"spec": {"size": 6}}, MERGE),
    ),
    installed(
        "custom subresources",
        created("a", size=2),
        patch(f"{THINGS}/a/status", {"status": {"replicas": 3}, "spec": {"size": 9}}, MERGE),
        patch(f"{THINGS}/a", {"status": {"replicas": 5}}, MERGE),
        get(f"{THINGS}/a/scale"),
        get(f"{THINGS}/a/scale", TABLE),
        patch(f"{THINGS}/a/scale", {"spec": {"replicas": 4}}, MERGE),
        patch(f"{THINGS}/a", {"spec": {"size": 3}}, STRATEGIC),
    ),
    installed(
        "apply of custom objects",
        apply(f"{THINGS}/a", thing("a", size=2, parts=[{"name": "x", "weight": 1}]), "first"),
        apply(f"{THINGS}/a", thing("a", size=2, parts=[{"name": "y", "weight": 2}]), "second"),
        apply(f"{THINGS}/a", thing("a", size=3, parts=[]), "second"),
        apply(f"{THINGS}/a", thing("a", size=2, tags=["t"]), "first"),
    ),
    scenario(
        "definitions that are refused",
        broken(scope="Nowhere"),
        broken(versions=[]),
        broken(versions=[{**VERSION, "storage": False}]),
        broken(names={"plural": "others", "kind": "Thing"}),
        broken(versions=[{key: value for key, value in VERSION.items() if key != "schema"}]),
        broken(
            versions=[{**VERSION, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"a": {}}}}}]
        ),
        broken(versions=[UNTYPED]),
        broken(versions=[{**VERSION, "additionalPrinterColumns": [{"type": "text", "jsonPath": "a"}]}]),
    ),
)
