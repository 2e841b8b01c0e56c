# ruff: noqa: INP001 - a script's module, run by path
"""Which scalar fields Go leaves out of JSON while they are zero; OpenAPI does not say it, the Go types do."""

import re
from pathlib import Path

# Where the Go packages of the definitions lie in their modules.
MODULES = {
    "io.k8s.api.": "api",
    "io.k8s.apimachinery.pkg.": "apimachinery/pkg",
    "io.k8s.apiextensions-apiserver.pkg.": "apiextensions-apiserver/pkg",
    "io.k8s.kube-aggregator.pkg.": "kube-aggregator/pkg",
}
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^\t(?:\w+\s+)?(\S+)\s+`json:\"([^\"]*)\"", re.MULTILINE)


def omitted_when_zero(modules: Path, package: str) -> dict[str, list[str]]:
    """By type of the package: fields that are no pointer, list or map, and have omitempty."""
    prefix = next((prefix for prefix in MODULES if package.startswith(prefix)), None)
    if prefix is None:
        return {}
    root = MODULES[prefix].split("/", 1)
    (module,) = modules.glob(f"{root[0]}@v0.*")
    folder = module.joinpath(*root[1:], *package.removeprefix(prefix).split("."))
    texts = [
        path.read_text(encoding="utf-8") for path in sorted(folder.glob("types*.go")) if "_" not in path.stem
    ]
    texts += [path.read_text(encoding="utf-8") for path in folder.glob("types_jsonschema.go")]
    bodies = {name: body for text in texts for name, body in _STRUCT.findall(text)}
    return {name: sorted(_fields(body, bodies)) for name, body in bodies.items()}


def _fields(body: str, bodies: dict[str, str]) -> set[str]:
    found: set[str] = set()
    for kind, tag in _FIELD.findall(body):
        name, *options = tag.split(",")
        if "inline" in options:
            found |= _fields(bodies.get(kind, ""), bodies)
        elif "omitempty" in options and not kind.startswith(("*", "[", "map[")):
            found.add(name)
    return found
