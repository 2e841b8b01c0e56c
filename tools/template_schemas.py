# ruff: noqa: INP001 - a script run by path, not a package
"""Make the schemas that kinds of ours embed, of pods and of claims, from the embedded API server's data.

A CustomResourceDefinition takes structural schemas only: references are inlined, defaults go, except where a
list is keyed by a field that has one, and what strategic merge patches need is left out.
"""

import gzip
import json
from pathlib import Path
from typing import Any

from quorate.embedded import data

Json = dict[str, Any]

HOME = Path(__file__).resolve().parent.parent / "src/quorate/api/templates.json.gz"
CORE, MACHINERY = "io.k8s.api.core.v1.", "io.k8s.apimachinery.pkg."
TEMPLATES = ("PodTemplateSpec", "PersistentVolumeClaim")
KEPT = frozenset(
    {
        "type",
        "format",
        "required",
        "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-map-type",
    }
)
STRINGS: Json = {"type": "object", "additionalProperties": {"type": "string"}}
INT_OR_STRING: Json = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
}
_NUMBER = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
# What stands for itself in a schema, and the part of metadata that a template can have.
KNOWN: dict[str, Json] = {
    f"{MACHINERY}api.resource.Quantity": INT_OR_STRING
    | {"pattern": rf"^(\+|-)?{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_NUMBER}))?$"},
    f"{MACHINERY}util.intstr.IntOrString": INT_OR_STRING,
    f"{MACHINERY}apis.meta.v1.ObjectMeta": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "namespace": {"type": "string"},
            "labels": STRINGS,
            "annotations": STRINGS,
            "finalizers": {"type": "array", "items": {"type": "string"}},
            "creationTimestamp": {"type": "string", "format": "date-time", "nullable": True},
        },
    },
}


def structural(node: Json) -> Json:
    found, name = data.resolve(node)
    if name in KNOWN:
        return KNOWN[name]
    kept = {key: value for key, value in found.items() if key in KEPT}
    for nested in ("items", "additionalProperties"):
        if nested in found:
            kept[nested] = structural(found[nested])
    if "properties" in found:
        kept["properties"] = {field: structural(child) for field, child in found["properties"].items()}
    for key in kept.get("x-kubernetes-list-map-keys", ()):
        _keyed(kept["items"], data.resolve(found["items"])[0], key)
    return kept


def _keyed(item: Json, published: Json, key: str) -> None:
    """A key of a list is required, or has a default."""
    if key not in item.get("required", ()):
        item["properties"][key] = item["properties"][key] | {
            "default": published["properties"][key]["default"]
        }


def made() -> Json:
    return {name: structural(data.definition(CORE + name)) for name in TEMPLATES}


def main() -> None:
    text = json.dumps(made(), separators=(",", ":"), sort_keys=True)
    HOME.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
