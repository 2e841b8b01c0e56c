# ruff: noqa: INP001 - a script run by path, not a package
"""Condense the API description of a Kubernetes release into the data files of the embedded API server.

Reads `api/openapi-spec/v3` and `api/discovery` of a k8s.io/kubernetes source tree, and the Go types of the
k8s.io modules that lie beside it in the module cache, and writes structure only:
one file of discovery, and one file of definitions per Go package, each gzip'd JSON without any prose.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

from go_types import omitted_when_zero

DATA = Path(__file__).resolve().parent.parent / "src/quorate/embedded/data"

SERVED = (
    ("", "v1"),
    ("apps", "v1"),
    ("batch", "v1"),
    ("policy", "v1"),
    ("autoscaling", "v2"),
    ("autoscaling", "v1"),
    ("networking.k8s.io", "v1"),
    ("rbac.authorization.k8s.io", "v1"),
    ("storage.k8s.io", "v1"),
    ("scheduling.k8s.io", "v1"),
    ("coordination.k8s.io", "v1"),
    ("discovery.k8s.io", "v1"),
    ("events.k8s.io", "v1"),
    ("node.k8s.io", "v1"),
    ("authentication.k8s.io", "v1"),
    ("authorization.k8s.io", "v1"),
    ("admissionregistration.k8s.io", "v1"),
    ("apiextensions.k8s.io", "v1"),
    ("apiregistration.k8s.io", "v1"),
)

# Proxying, attaching and component probes need real nodes; the rest are not served by the embedded cluster.
UNSERVED = {"componentstatuses"}
UNSERVED_SUBRESOURCES = {"proxy", "attach", "exec", "portforward"}

KEPT = frozenset({
    "type", "format", "required", "default", "enum", "oneOf", "anyOf", "allOf", "not", "$ref", "nullable",
    "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
    "x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key", "x-kubernetes-group-version-kind",
    "x-kubernetes-unions", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields",
})  # fmt: skip
LITERAL = frozenset({"required", "default", "enum", "x-kubernetes-group-version-kind", "x-kubernetes-unions"})
SCALARS = frozenset({"string", "boolean", "integer", "number"})
PREFIX = "#/components/schemas/"


def structure(node: Any) -> Any:
    """The node without descriptions."""
    if isinstance(node, list):
        return [structure(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value if key in LITERAL else structure(value) for key, value in node.items() if key in KEPT}
    if "properties" in node:
        kept["properties"] = {name: structure(child) for name, child in node["properties"].items()}
    for nested in ("items", "additionalProperties"):
        if nested in node:
            kept[nested] = structure(node[nested])
    return kept


def references(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*(references(item) for item in node))
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"].removeprefix(PREFIX)} if isinstance(node.get("$ref"), str) else set()
    return own.union(*(references(child) for child in node.values()))


def slug(group: str, version: str) -> str:
    return f"apis__{group}__{version}" if group else f"api__{version}"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def resources(listing: Any) -> list[dict[str, Any]]:
    """Rows of a discovery document with subresources folded into their parents."""
    rows: dict[str, dict[str, Any]] = {}
    for entry in listing["resources"]:
        plural, _, subresource = entry["name"].partition("/")
        if plural in UNSERVED or subresource in UNSERVED_SUBRESOURCES:
            continue
        if subresource:
            rows[plural].setdefault("subresources", []).append(
                {
                    "name": subresource,
                    **{key: entry[key] for key in ("kind", "group", "version", "verbs") if key in entry},
                }
            )
            continue
        keys = ("kind", "singularName", "namespaced", "verbs", "shortNames", "categories")
        rows[plural] = {"name": plural, **{key: entry[key] for key in keys if key in entry}}
    return list(rows.values())


def home(schemas: Any, group: str, version: str, kind: str) -> str:
    """The Go package that defines the kinds of a group-version."""
    wanted = {"group": group, "version": version, "kind": kind}
    names = (n for n, s in schemas.items() if wanted in s.get("x-kubernetes-group-version-kind", ()))
    return str(next(names)).rpartition(".")[0]


def write(path: Path, content: Any) -> None:
    text = json.dumps(content, separators=(",", ":"), sort_keys=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def mark_omitted(nodes: dict[str, Any], omitted: dict[str, list[str]]) -> None:
    """Note with each definition which scalars are left out while zero; not part of what is published."""
    for name, node in nodes.items():
        fields = omitted.get(name.rpartition(".")[2], ())
        scalar = [
            field for field in fields if node.get("properties", {}).get(field, {}).get("type") in SCALARS
        ]
        if scalar:
            node["x-omitted"] = scalar


def main(source: Path) -> None:
    discovery, definitions = [], {}
    for group, version in SERVED:
        rows = resources(read(source / f"api/discovery/{slug(group, version)}.json"))
        schemas = read(source / f"api/openapi-spec/v3/{slug(group, version)}_openapi.json")["components"][
            "schemas"
        ]
        package = home(schemas, group, version, rows[0]["kind"])
        discovery.append({"group": group, "version": version, "package": package, "resources": rows})
        definitions.update({name: structure(schema) for name, schema in schemas.items()})
    missing = set().union(*(references(node) for node in definitions.values())) - set(definitions)
    if missing:
        sys.exit(f"referenced but not defined: {sorted(missing)}")
    packages: dict[str, dict[str, Any]] = {}
    for name, node in definitions.items():
        packages.setdefault(name.rpartition(".")[0], {})[name] = node
    for old in DATA.glob("*.json.gz"):
        old.unlink()
    write(DATA / "discovery.json.gz", discovery)
    for package, nodes in packages.items():
        mark_omitted(nodes, omitted_when_zero(source.parent, package))
        write(DATA / f"{package}.json.gz", nodes)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
