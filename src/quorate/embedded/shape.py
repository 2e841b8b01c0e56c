"""Schemas compiled once into `Shape` trees, which decoding, patching and field ownership all walk.

A built-in kind's shape comes from the data files, a custom kind's from its structural schema. Two parts that
mean the same are the same object, so shapes of built-in kinds share their common definitions.
"""

import dataclasses
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache
from typing import Any, NamedTuple

from quorate.api.meta import Json
from quorate.embedded import data
from quorate.embedded.registry import Resource

META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


class Sort(Enum):
    """What a value of this shape is on the wire."""

    STRUCT = auto()  # an object whose fields are named in the schema
    MAP = auto()  # an object whose keys are data
    LIST = auto()
    STRING = auto()
    INTEGER = auto()
    NUMBER = auto()
    BOOLEAN = auto()
    INT_OR_STRING = auto()
    QUANTITY = auto()
    TIME = auto()
    MICRO_TIME = auto()
    BYTES = auto()
    ANY = auto()  # anything; ownership of it is atomic unless `granular`


class Merge(NamedTuple):
    """How a strategic merge patch treats one field."""

    strategies: frozenset[str]
    key: str


@dataclass(slots=True, eq=False)
class Shape:
    """One node of a compiled schema; filled while compiling, never changed afterwards."""

    sort: Sort
    # Go's name of the type, as decoding errors of a real server print it.
    go: str = ""
    fields: dict[str, "Shape"] = field(default_factory=dict)
    # Of a list's items, a map's values, or the fields that a struct does not name.
    element: "Shape | None" = None
    atomic: bool = False
    keys: tuple[str, ...] = ()
    defaults: Json = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    merges: dict[str, Merge] = field(default_factory=dict)
    # Fields that are written even when empty; a created object does not count as having added them.
    standing: frozenset[str] = frozenset()
    # Scalar fields that are not written while zero.
    omitted: frozenset[str] = frozenset()

    def child(self, name: str) -> "Shape":
        """The shape of one key of an object."""
        return self.fields.get(name) or self.element or GRANULAR


UNTYPED = Shape(Sort.ANY, go="interface {}", atomic=True)
GRANULAR = Shape(Sort.ANY, go="interface {}")
GRANULAR.element = GRANULAR

_SPECIAL = {
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": Shape(Sort.INT_OR_STRING, go="int32"),
    "io.k8s.apimachinery.pkg.api.resource.Quantity": Shape(Sort.QUANTITY, go="resource.Quantity"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": Shape(Sort.TIME, go="string"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": Shape(Sort.MICRO_TIME, go="string"),
}
_compiled: dict[str, Shape] = dict(_SPECIAL)
_SCALARS = {
    "string": (Sort.STRING, "string"),
    "boolean": (Sort.BOOLEAN, "bool"),
    "integer": (Sort.INTEGER, "int64"),
    "number": (Sort.NUMBER, "float64"),
}


def shape_of(resource: Resource) -> Shape:
    """The shape of a resource's objects."""
    if resource.schema is not None:
        return of_structural(resource.schema)
    return builtin(resource.group, resource.version, resource.kind)


@cache
def builtin(group: str, version: str, kind: str) -> Shape:
    """The shape of a built-in kind; a kind that is not in the data is untyped."""
    name = data.definition_name(group, version, kind)
    return definition(name) if name else GRANULAR


def definition(name: str) -> Shape:
    """The shape of a definition, shared by everything that refers to it."""
    known = _compiled.get(name)
    if known is not None:
        return known
    node = data.definition(name)
    if "properties" not in node:
        _compiled[name] = _scalar(node) if node.get("type") in _SCALARS else UNTYPED
        return _compiled[name]
    package, _, title = name.rpartition(".")
    shape = Shape(Sort.STRUCT, go=f"{package.rpartition('.')[2]}.{title}")
    # Entered before it is filled: definitions may refer to themselves.
    _compiled[name] = shape
    _fill(shape, node)
    return shape


def _fill(shape: Shape, node: Json) -> None:
    properties: dict[str, Json] = node["properties"]
    shape.fields = {name: _node(child) for name, child in properties.items()}
    shape.atomic = node.get("x-kubernetes-map-type") == "atomic"
    shape.omitted = frozenset(node.get("x-omitted", ()))
    shape.required = frozenset(node.get("required", ()))
    shape.defaults = {name: child["default"] for name, child in properties.items() if "default" in child}
    lists = {name for name in shape.required if shape.fields[name].sort in {Sort.LIST, Sort.MAP}}
    shape.standing = frozenset(shape.defaults) | lists
    for name, child in properties.items():
        if strategies := child.get("x-kubernetes-patch-strategy"):
            key = child.get("x-kubernetes-patch-merge-key", "")
            shape.merges[name] = Merge(frozenset(strategies.split(",")), key)


def _node(node: Json) -> Shape:
    _, name = data.resolve(node)
    if not name:
        return _inline(node)
    shape = definition(name)
    relation = node.get("x-kubernetes-map-type")
    if relation and (relation == "atomic") != shape.atomic:
        return dataclasses.replace(shape, atomic=relation == "atomic")
    return shape


def _inline(node: Json) -> Shape:
    if "items" in node:
        return _list(node, _node(node["items"]))
    if isinstance(values := node.get("additionalProperties"), dict):
        return _map(node, _node(values))
    return _scalar(node) if node.get("type") in _SCALARS else UNTYPED


def _scalar(node: Json) -> Shape:
    sort, go = _SCALARS[node["type"]]
    if node.get("format") == "byte":
        return Shape(Sort.BYTES, go="[]uint8")
    if node.get("format") == "date-time" and sort is Sort.STRING:
        return Shape(Sort.TIME, go="string")
    if node.get("format") == "int32":
        go = "int32"
    return Shape(sort, go=go)


def _map(node: Json, element: Shape) -> Shape:
    atomic = node.get("x-kubernetes-map-type") == "atomic"
    go = "v1.ResourceList" if element.sort is Sort.QUANTITY else f"map[string]{element.go}"
    return Shape(Sort.MAP, go=go, element=element, atomic=atomic)


def _list(node: Json, element: Shape) -> Shape:
    relation = node.get("x-kubernetes-list-type")
    keys = tuple(node.get("x-kubernetes-list-map-keys", ()))
    if relation is None and "merge" in node.get("x-kubernetes-patch-strategy", "").split(","):
        # The legacy notation of an associative list.
        key = node.get("x-kubernetes-patch-merge-key")
        relation, keys = ("map", (key,)) if key else ("set", ())
    atomic = relation not in {"map", "set"}
    return Shape(Sort.LIST, go=f"[]{element.go}", element=element, atomic=atomic, keys=keys)


_structural: dict[int, tuple[Json, Shape]] = {}
_STRUCTURAL_LIMIT = 512


def of_structural(schema: Json) -> Shape:
    """The shape of a custom kind from the schema of one of its versions."""
    # Keyed by identity: the schema is kept beside the shape, so its id is not given to another object.
    known = _structural.get(id(schema))
    if known is None:
        if len(_structural) >= _STRUCTURAL_LIMIT:
            _structural.clear()
        known = _structural[id(schema)] = (schema, _embedded(schema))
    return known[1]


def _embedded(schema: Json) -> Shape:
    """An object with apiVersion, kind and metadata: the root, or an embedded resource."""
    text = Shape(Sort.STRING, go="string")
    shape = _custom({**schema, "x-kubernetes-embedded-resource": False})
    if shape.sort is not Sort.STRUCT:
        shape = Shape(Sort.STRUCT, element=GRANULAR)
    shape.fields = {**shape.fields, "apiVersion": text, "kind": text, "metadata": definition(META)}
    return shape


def _custom(node: Json) -> Shape:  # noqa: PLR0911 - one return for each form of a schema
    if node.get("x-kubernetes-embedded-resource"):
        return _embedded(node)
    if node.get("x-kubernetes-int-or-string"):
        return _SPECIAL["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]
    if node.get("type") == "array":
        return _list(node, _custom(node.get("items") or {}))
    if node.get("type") in _SCALARS:
        sort, go = _SCALARS[node["type"]]
        return Shape(sort, go=go)
    preserve = bool(node.get("x-kubernetes-preserve-unknown-fields"))
    if isinstance(values := node.get("additionalProperties"), dict):
        return _map(node, _custom(values))
    if "properties" not in node:
        return GRANULAR if preserve or node.get("additionalProperties") is True else UNTYPED
    return _struct(node, preserve=preserve)


def _struct(node: Json, *, preserve: bool) -> Shape:
    properties: dict[str, Json] = node["properties"]
    return Shape(
        Sort.STRUCT,
        fields={name: _custom(child) for name, child in properties.items()},
        element=GRANULAR if preserve else None,
        atomic=node.get("x-kubernetes-map-type") == "atomic",
        defaults={name: child["default"] for name, child in properties.items() if "default" in child},
        required=frozenset(node.get("required", ())),
    )


def list_key(shape: Shape, item: Any) -> Json:
    """The values of the key fields of one item of an associative list, defaults filled in."""
    element = shape.element or GRANULAR
    found: Json = {}
    for name in shape.keys:
        value = item.get(name, element.defaults.get(name))
        if value is not None:
            found[name] = value
    return found
