"""`quorate convert`: rewrites manifests from another reading of the same fields."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
import yaml

from quorate.api.meta import Json
from quorate.cli.failures import fail
from quorate.cli.manifests import Format, Output, render
from quorate.rules.convert import NotConvertibleError, from_semantic_min_member


class Reading(StrEnum):
    SEMANTIC_MIN_MEMBER = "semantic-min-member"


def convert(
    file: Annotated[Path, typer.Argument(help="A YAML or JSON file; - reads standard input.")],
    reading: Annotated[Reading, typer.Option("--from", help="How the file means `minMember`.")],
    output: Output = Format.YAML,
) -> None:
    """Print PodGroups with the minimums as Quorate reads them."""
    del reading  # there is one so far, and it has to be named
    converted = []
    for at, document in enumerate(_documents(file)):
        try:
            converted.append(from_semantic_min_member(document))
        except NotConvertibleError as error:
            raise fail(f"{file}: document {at + 1}: {error}", status=1) from error
    typer.echo(render(converted, output))


def _documents(file: Path) -> list[Json]:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text()
        documents = [document for document in yaml.load_all(text, Loader=yaml.CSafeLoader) if document]
    except FileNotFoundError as error:
        raise fail(f"{file}: no such file") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise fail(f"{file} is not YAML: {error}", status=1) from error
    wrong = next((at for at, document in enumerate(documents) if not isinstance(document, dict)), None)
    if wrong is not None:
        raise fail(f"{file}: document {wrong + 1} is not an object", status=1)
    return documents
