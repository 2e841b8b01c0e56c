"""Objects of the right types but with any content never break what the API server does with them."""

import copy
import random
from typing import Any

import pytest

from quorate.api.meta import Json
from quorate.embedded import errors
from quorate.embedded.defaults import default, prepare_create
from quorate.embedded.discovery import builtin_resources
from quorate.embedded.registry import Resource
from quorate.embedded.shape import Shape, Sort, shape_of
from quorate.embedded.tables import table
from quorate.embedded.typed import WrongTypeError, decode
from quorate.embedded.validation import validate_create, validate_update

ROUNDS = 25
DEPTH = 7
STORED = [resource for resource in builtin_resources() if "list" in resource.verbs]

TIMES = ("2026-01-01T00:00:00Z",)
LEAVES: dict[Sort, tuple[Any, ...]] = {
    Sort.STRING: ("", "a", "Never", "a b", "x-1", "100%"),
    Sort.INTEGER: (0, 1, -1, 70_000),
    Sort.BOOLEAN: (True, False),
    Sort.NUMBER: (1.5,),
    Sort.INT_OR_STRING: (0, 1, -1, "5%", "x"),
    Sort.QUANTITY: ("1", "2Gi", "-1", 3),
    Sort.BYTES: ("YQ==",),
    Sort.ANY: ({}, {"a": 1}),
}


class Maker:
    """Makes values of a shape, a third of the fields set."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)  # noqa: S311 - test data

    def value(self, shape: Shape, depth: int = DEPTH) -> Any:
        match shape.sort:
            case Sort.STRUCT:
                return self._struct(shape, depth)
            case Sort.LIST:
                return self._list(shape, depth)
            case Sort.MAP:
                return self._map(shape, depth)
        return self._random.choice(LEAVES.get(shape.sort, TIMES))

    def _struct(self, shape: Shape, depth: int) -> Json:
        if depth <= 0:
            return {}
        chosen = [name for name in shape.fields if self._random.random() < 1 / 3]
        return {name: self.value(shape.fields[name], depth - 1) for name in chosen}

    def _list(self, shape: Shape, depth: int) -> list[Any]:
        assert shape.element is not None
        return [self.value(shape.element, depth - 1) for _ in range(self._random.randrange(3))]

    def _map(self, shape: Shape, depth: int) -> Json:
        assert shape.element is not None
        keys = self._random.sample(("a", "b c", "cpu", "nvidia.com/gpu"), self._random.randrange(3))
        return {key: self.value(shape.element, depth - 1) for key in keys}


@pytest.mark.parametrize("resource", STORED, ids=lambda resource: f"{resource.plural}.{resource.group}")
def test_any_object_is_completed_judged_and_printed(resource: Resource) -> None:
    maker = Maker(resource.plural)
    for _ in range(ROUNDS):
        body = {**maker.value(shape_of(resource)), "metadata": {"name": "x", "namespace": "default"}}
        try:
            obj = decode(shape_of(resource), body).object
        except WrongTypeError:
            continue
        default(resource.group, resource.kind, obj)
        prepare_create(resource.group, resource.kind, obj)
        found = validate_create(resource.group, resource.kind, obj, namespaced=resource.namespaced)
        if found:
            assert errors.invalid(resource, "x", found).code == 422
            continue
        assert validate_update(resource.group, resource.kind, obj, copy.deepcopy(obj)) == []
        [row] = table(resource, [obj], include="None", now=1.8e9)["rows"]
        assert row["cells"][0] or resource.kind == "Event"
