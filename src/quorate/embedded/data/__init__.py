"""The API description of a real Kubernetes release, read on first use, for every module that knows schemas.

Each file is gzip'd JSON without prose, written by `tools/openapi_data.py`; NOTICE beside it says from what.
"""

import gzip
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from quorate.api.meta import Json

PREFIX = "#/components/schemas/"


@cache
def _read(stem: str) -> Any:
    packed = files(__name__).joinpath(f"{stem}.json.gz").read_bytes()
    return msgspec.json.decode(gzip.decompress(packed))


def group_versions() -> list[Json]:
    """Served built-in group-versions, most preferred first: group, version, package, resources."""
    found: list[Json] = _read("discovery")
    return found


def definition(name: str) -> Json:
    """The OpenAPI schema of a definition such as `io.k8s.api.core.v1.Pod`."""
    found: Json = _read(name.rpartition(".")[0])[name]
    return found


@cache
def _packages() -> dict[tuple[str, str], str]:
    return {(entry["group"], entry["version"]): entry["package"] for entry in group_versions()}


def definition_name(group: str, version: str, kind: str) -> str | None:
    """The definition of a built-in kind; None for a kind that the data does not hold."""
    package = _packages().get((group, version))
    if package is None:
        return None
    name = f"{package}.{kind}"
    return name if name in _read(package) else None


def resolve(node: Json) -> tuple[Json, str]:
    """Follow a reference, bare or wrapped in allOf: the schema and its name, "" for no reference."""
    target = node.get("$ref")
    wrapped: list[Json] = node.get("allOf", [])
    if target is None and len(wrapped) == 1:
        target = wrapped[0].get("$ref")
    if not isinstance(target, str):
        return node, ""
    name = target.removeprefix(PREFIX)
    return definition(name), name
