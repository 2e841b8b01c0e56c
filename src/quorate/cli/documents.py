"""Reads the YAML documents of a file or of a folder of files, with one clear line for what is wrong."""

import sys
from collections.abc import Iterable
from pathlib import Path

import yaml

from quorate.api.kinds import kind_of
from quorate.api.meta import Json
from quorate.api.yamltext import fault
from quorate.cli.failures import fail
from quorate.plan import Apply, Ref

ENDINGS = (".json", ".yaml", ".yml")


def read(path: Path) -> list[Json]:
    """All documents, those of a folder in the order of its file names; `-` is standard input."""
    files = sorted(found for end in ENDINGS for found in path.glob(f"*{end}")) if path.is_dir() else [path]
    if not files:
        raise fail(
            f"{path} holds no file ending in {', '.join(ENDINGS)}", remedy="name a file or another folder"
        )
    return [document for file in files for document in _documents(file)]


def read_all(paths: Iterable[Path]) -> list[Json]:
    """The documents of several files and folders, the objects of a List one by one."""
    found = [document for path in paths for document in read(path)]
    return [each for document in found for each in _items(document)]


def _items(document: Json) -> list[Json]:
    items = document.get("items")
    if document.get("kind") != "List" or not isinstance(items, list):
        return [document]
    return [item for item in items if isinstance(item, dict)]


def as_changes(path: Path, namespace: str) -> list[Apply]:
    """The objects of a file or folder as changes that apply them."""
    return [_change(document, namespace) for document in read(path)]


def _documents(file: Path) -> list[Json]:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text()
        documents = [document for document in yaml.load_all(text, Loader=yaml.CSafeLoader) if document]
    except FileNotFoundError as error:
        raise fail(f"{file}: no such file") from error
    except IsADirectoryError as error:
        raise fail(f"{file}: a folder stands among the manifests", remedy="name the files in it") from error
    except UnicodeDecodeError as error:
        raise fail(f"{file} is not text in UTF-8: {error.reason} at byte {error.start}", status=1) from error
    except yaml.YAMLError as error:
        raise fail(f"{file} is not YAML: {fault(error)}", status=1) from error
    for number, document in enumerate(documents, start=1):
        if not isinstance(document, dict):
            raise fail(f"{file}: document {number} is not an object", status=1)
    return documents


def _change(document: Json, namespace: str) -> Apply:
    kind = kind_of(document)
    given = document.get("metadata")
    metadata = given if isinstance(given, dict) else {}
    name = metadata.get("name")
    if kind is None:
        what = f"{document.get('apiVersion', '?')} {document.get('kind', '?')}"
        raise fail(
            f"cannot apply {what}: Quorate does not know this kind", remedy="apply it with kubectl", status=1
        )
    if not name:
        raise fail(f"cannot apply a {kind.kind} without metadata.name", remedy="give it a name", status=1)
    where = metadata.get("namespace", namespace) if kind.namespaced else ""
    return Apply(target=Ref(kind=kind, name=name, namespace=where), body=document)
