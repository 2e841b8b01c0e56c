"""Answers of API servers made comparable: what differs from run to run is replaced by what it is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

BY_KEY = {
    "uid": "<uid>",
    "resourceVersion": "<version>",
    "continue": "<token>",
    "storageVersionHash": "<hash>",
    "creationTimestamp": "<time>",
    "deletionTimestamp": "<time>",
    "lastTransitionTime": "<time>",
    "lastUpdateTime": "<time>",
    "lastProbeTime": "<time>",
    "startTime": "<time>",
    "time": "<time>",
}
# Parts of messages that are dumps of the server's memory or the words of its decoder, and what stands for them.
DUMPS = (
    (re.compile(r"in record \(\d+\)"), "in record (<version>)"),
    (re.compile(r"in object meta: \d+$"), "in object meta: <version>"),
    (re.compile(r'Invalid value: (?:\[\{.*\}\]|"\{.*\}"):'), "Invalid value: <dump>:"),
    (re.compile(r"json parse error: .*", re.DOTALL), "json parse error: <why>"),
    (re.compile(r"continue key is not valid.*"), "continue key is not valid"),
    (re.compile(r"(previously negative\)\n).*", re.DOTALL), r"\1<difference>"),
    (re.compile(r' in scheme "pkg/runtime/scheme.go:\d+"'), ""),
)
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
AGE = re.compile(r"\d+(ms|s)")
WRITER = ("operation", "manager", "subresource")
EMPTY: tuple[Any, ...] = (None, "")


@dataclass(frozen=True, slots=True)
class Answer:
    """A status code and the decoded body; a watch's events as a list; warnings from the header."""

    code: int
    body: Any
    warnings: tuple[str, ...] = ()


def normal(answer: Answer, only: tuple[str, ...] = ()) -> Json:
    body = answer.body
    if only and isinstance(body, dict):
        body = {key: value for key, value in body.items() if key in only}
    return {"code": answer.code, "warnings": list(answer.warnings), "body": _normal("", body, "")}


def _normal(key: str, value: Any, generated: str) -> Any:
    if isinstance(value, dict):
        if key == "columnDefinitions":
            value = {**value, "description": "<documentation>"}
        prefix = str(value.get("generateName", ""))
        return {name: _normal(name, each, prefix) for name, each in value.items()}
    if isinstance(value, list):
        if key == "managedFields":
            # In the order of their times, which depends on where a second ends.
            value = sorted(value, key=lambda entry: str([entry.get(part) for part in WRITER]))
        return [_normal(key, each, "") for each in value]
    if key in BY_KEY and value not in EMPTY:
        return BY_KEY[key]
    if not isinstance(value, str):
        return value
    if key == "name" and generated and value.startswith(generated):
        return "<generated>"
    if key == "message":
        for dump, stand_in in DUMPS:
            value = dump.sub(stand_in, value)
    return "<age>" if AGE.fullmatch(value) else UID.sub("<uid>", value)


def differences(left: Any, right: Any, path: str = "") -> Iterator[str]:
    """The leaves that differ, as `path: left / right`."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted({*left, *right}):
            yield from differences(left.get(key, "(absent)"), right.get(key, "(absent)"), f"{path}.{key}")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for place, pair in enumerate(zip(left, right, strict=True)):
            yield from differences(*pair, f"{path}[{place}]")
    elif left != right or type(left) is not type(right):
        yield f"{path.lstrip('.')}: {left!r} / {right!r}"
