"""The labelSelector and fieldSelector of a request: parsed with the server's words, matched against objects.

List, watch and deletecollection carry a `Selection`; which fields a kind can be selected by is a table here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from quorate.api.meta import Json
from quorate.embedded.errors import ApiError, bad_request

_TOKEN = re.compile(r"\s*(==|!=|[=<>(),!]|[^\s=<>(),!]+)")
_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_OPERATORS = frozenset({"=", "==", "!=", "in", "notin", "<", ">"})
_EXPECTED = "in, notin, =, ==, !=, gt, lt"

_COMMON = frozenset({"metadata.name", "metadata.namespace"})
_PLAIN = '"{}" is not a known field selector: only "metadata.name", "metadata.namespace"'
_INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_POD = (
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
)
_EVENT = frozenset({"reason", "reportingComponent", "source", "type"})
_FIELDS: dict[tuple[str, str], frozenset[str]] = {
    ("", "pods"): frozenset(_POD),
    ("", "nodes"): frozenset({"spec.unschedulable"}),
    ("", "namespaces"): frozenset({"status.phase"}),
    ("", "secrets"): frozenset({"type"}),
    ("", "events"): _EVENT | {f"involvedObject.{name}" for name in _INVOLVED},
    ("events.k8s.io", "events"): _EVENT | {f"regarding.{name}" for name in _INVOLVED},
    ("", "replicationcontrollers"): frozenset({"status.replicas"}),
    ("apps", "replicasets"): frozenset({"status.replicas"}),
    ("batch", "jobs"): frozenset({"status.successful"}),
}


class Requirement(NamedTuple):
    """One term of a label selector; `operator` is in, notin, exists, absent, gt or lt."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value in self.values
            case "notin":
                return value not in self.values
            case "exists":
                return value is not None
            case "absent":
                return value is None
        return value is not None and self._compares(value)

    def _compares(self, value: str) -> bool:
        try:
            number, bound = int(value), int(next(iter(self.values)))
        except ValueError:
            return False
        return number > bound if self.operator == "gt" else number < bound


class FieldTerm(NamedTuple):
    path: tuple[str, ...]
    value: str
    equal: bool

    def matches(self, obj: Json) -> bool:
        return (_field(obj, self.path) == self.value) is self.equal


@dataclass(frozen=True, slots=True)
class Selection:
    labels: tuple[Requirement, ...] = ()
    fields: tuple[FieldTerm, ...] = ()

    @property
    def everything(self) -> bool:
        return not self.labels and not self.fields

    @property
    def name(self) -> str | None:
        """The one name that can match, where the fields say so."""
        path = ("metadata", "name")
        return next((term.value for term in self.fields if term.equal and term.path == path), None)

    def matches(self, obj: Json) -> bool:
        if self.labels:
            labels = obj["metadata"].get("labels") or {}
            if not all(requirement.matches(labels) for requirement in self.labels):
                return False
        return all(term.matches(obj) for term in self.fields)


def selectable_fields(group: str, plural: str, definition: Json | None) -> frozenset[str]:
    """Every field path a resource can be selected by; a custom kind adds its selectableFields."""
    own = {field["jsonPath"].removeprefix(".") for field in (definition or {}).get("selectableFields") or ()}
    return _COMMON | _FIELDS.get((group, plural), frozenset()) | own


def parse_fields(text: str, known: frozenset[str], *, is_custom: bool = False) -> tuple[FieldTerm, ...]:
    is_plain = known == _COMMON and not is_custom
    terms: list[FieldTerm] = []
    for part in re.split(r"(?<!\\),", text):
        if not part:
            continue
        match = re.fullmatch(r"(.*?)(!=|==|=)(.*)", part, re.DOTALL)
        if match is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        name, operator, value = match.groups()
        if name not in known:
            raise bad_request(_PLAIN.format(name) if is_plain else f"field label not supported: {name}")
        terms.append(FieldTerm(tuple(name.split(".")), re.sub(r"\\(.)", r"\1", value), operator != "!="))
    return tuple(terms)


def parse_labels(text: str) -> tuple[Requirement, ...]:
    """Raises 400 with the words of apimachinery's selector parser."""
    return tuple(_Parser(text).requirements())


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        self._position = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        while self._peek():
            found.append(self._requirement())
            separator = self._next()
            if separator not in {"", ","}:
                raise _unparsable(f"found '{separator}', expected: ',' or 'end of string'")
            if separator == "," and not self._peek():
                raise _unparsable("found '', expected: identifier after ','")
        return found

    def _requirement(self) -> Requirement:
        negated = self._peek() == "!"
        if negated:
            self._next()
        key = self._next()
        if not key or key in _OPERATORS or key in {"(", ")", ",", "!"}:
            expected = "identifier" if negated else "!, identifier, or 'end of string'"
            raise _unparsable(f"found '{key}', expected: {expected}")
        if not _KEY.fullmatch(key):
            raise bad_request(f"unable to parse requirement: <nil>: Invalid value: {_q(key)}: {_KEY_RULE}")
        if negated:
            return Requirement(key, "absent")
        if self._peek() in {"", ","}:
            return Requirement(key, "exists")
        return self._comparison(key, self._next())

    def _comparison(self, key: str, operator: str) -> Requirement:
        if operator in {"in", "notin"}:
            return Requirement(key, operator, frozenset(self._values(key)))
        if operator not in _OPERATORS:
            raise _unparsable(f"found '{operator}', expected: {_EXPECTED}")
        value = "" if self._peek() in {"", ","} else self._next()
        _check_value(key, value)
        words = {"=": "in", "==": "in", "!=": "notin", ">": "gt", "<": "lt"}
        return Requirement(key, words[operator], frozenset({value}))

    def _values(self, key: str) -> list[str]:
        if (opening := self._next()) != "(":
            raise _unparsable(f"found '{opening}' expected: '('")
        values: list[str] = []
        while (word := self._next()) != ")":
            if not word:
                raise _unparsable("found '', expected: ',' or ')'")
            if word == ",":
                continue
            _check_value(key, word)
            values.append(word)
        return values or [""]

    def _peek(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._position += 1
        return token


_KEY_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def _check_value(key: str, value: str) -> None:
    if not _VALUE.fullmatch(value):
        raise bad_request(
            f"unable to parse requirement: values[0][{key}]: Invalid value: {_q(value)}: {_VALUE_RULE}"
        )


def _unparsable(why: str) -> ApiError:
    return bad_request(f"unable to parse requirement: {why}")


def _q(text: str) -> str:
    return f'"{text}"'


def _field(obj: Json, path: tuple[str, ...]) -> str:
    """The field as the server compares it: as text, an absent one as its zero value."""
    value: Any = obj
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    if value is None:
        return _ABSENT.get(path, "")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        # Of an event, `source` selects by the component.
        return str(value.get("component", ""))
    return str(value)


_ABSENT: dict[tuple[str, ...], str] = {
    ("spec", "unschedulable"): "false",
    ("spec", "hostNetwork"): "false",
    ("status", "replicas"): "0",
    ("status", "successful"): "0",
}
