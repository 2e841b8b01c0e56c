"""`quorate convert`: rewrites manifests from another reading of the same fields."""

from enum import StrEnum
from typing import Annotated

import typer

from quorate.cli.documents import read_all
from quorate.cli.failures import fail
from quorate.cli.manifests import Format, Output, render
from quorate.cli.options import Files
from quorate.rules.convert import NotConvertibleError, from_semantic_min_member


class Reading(StrEnum):
    SEMANTIC_MIN_MEMBER = "semantic-min-member"


def convert(
    *,
    filename: Files,
    reading: Annotated[Reading, typer.Option("--from", help="How the file means `minMember`.")],
    output: Output = Format.YAML,
) -> None:
    """Print PodGroups with the minimums as Quorate reads them."""
    del reading  # there is one so far, and it has to be named
    converted = []
    for number, document in enumerate(read_all(filename), start=1):
        try:
            converted.append(from_semantic_min_member(document))
        except NotConvertibleError as error:
            raise fail(f"document {number}: {error}", status=1) from error
    typer.echo(render(converted, output))
