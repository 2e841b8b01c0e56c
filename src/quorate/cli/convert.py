"""`quorate convert`: rewrites manifests from another reading of the same fields, or from another shape."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Annotated

import msgspec
import typer

from quorate.api.meta import Json
from quorate.cli.documents import read_all
from quorate.cli.failures import fail
from quorate.cli.manifests import Format, Output, render
from quorate.cli.options import Files
from quorate.rules.convert import NotConvertibleError, from_semantic_min_member


class Reading(StrEnum):
    SEMANTIC_MIN_MEMBER = "semantic-min-member"
    SEGMENT_DESIGN = "workloads.instai.io"
    UPSTREAM = "workloads.x-k8s.io"


def convert(
    *,
    filename: Files,
    reading: Annotated[
        Reading,
        typer.Option("--from", help="How the file means `minMember`, or whose RoleBasedGroups it holds."),
    ],
    output: Output = Format.YAML,
) -> None:
    """Print PodGroups with the minimums as Quorate reads them, or RoleBasedGroups in their other shape."""
    from quorate.workloads.rbg.convert import (  # noqa: PLC0415 - keeps `quorate --help` fast
        documents_to_segment_design,
        documents_to_upstream,
    )

    conversions: dict[Reading, Callable[[Sequence[Json]], Iterator[Json]]] = {
        Reading.SEMANTIC_MIN_MEMBER: _minimums,
        Reading.SEGMENT_DESIGN: documents_to_upstream,
        Reading.UPSTREAM: documents_to_segment_design,
    }
    try:
        converted = list(conversions[reading](read_all(filename)))
    except (NotConvertibleError, msgspec.ValidationError) as error:
        raise fail(str(error), status=1) from error
    typer.echo(render(converted, output))


def _minimums(documents: Iterable[Json]) -> Iterator[Json]:
    for number, document in enumerate(documents, start=1):
        try:
            yield from_semantic_min_member(document)
        except NotConvertibleError as error:
            raise NotConvertibleError(f"document {number}: {error}") from error
