"""A scenario is a name and its steps; a step is one request, written short."""

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

JSON = "application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


@dataclass(frozen=True, slots=True)
class Step:
    """One request; a path without a leading slash is below the core group's namespace of the scenario.

    `only` compares nothing but these top-level fields of the answer (beside its status code); `is_setup` repeats
    a request until it is served, and compares nothing. `deviation` says why our answer is known to differ.
    """

    method: str
    path: str
    body: Any = None
    content: str = JSON
    accept: str = JSON
    only: tuple[str, ...] = ()
    is_setup: bool = False
    deviation: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    steps: tuple[Step, ...] = field(default=())


def get(path: str, accept: str = JSON, only: tuple[str, ...] = ()) -> Step:
    return Step("GET", path, accept=accept, only=only)


def post(path: str, body: Any, content: str = JSON) -> Step:
    return Step("POST", path, body, content)


def put(path: str, body: Any) -> Step:
    return Step("PUT", path, body)


def patch(path: str, body: Any, content: str) -> Step:
    return Step("PATCH", path, body, content)


def apply(path: str, body: Any, manager: str = "first", *, force: bool = False) -> Step:
    query = f"fieldManager={manager}" + ("&force=true" if force else "")
    return Step("PATCH", f"{path}?{query}", body, APPLY)


def delete(path: str, body: Any = None) -> Step:
    return Step("DELETE", path, body)


def config_map(name: str, **data: str | None) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def scenario(name: str, *steps: Step) -> Scenario:
    return Scenario(name, steps)
