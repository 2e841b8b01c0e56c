"""`quorate lint`: every error and warning that admission would give for the objects of files."""

import typer

from quorate.cli.documents import read_all
from quorate.cli.options import Files


def lint(*, filename: Files) -> None:
    """Say what is wrong or doubtful; the exit status is 1 if something would be refused."""
    from quorate.admission.lint import lint as remarks_on  # noqa: PLC0415 - keeps `quorate --help` fast

    documents = read_all(filename)
    remarks = list(remarks_on(documents))
    for remark in remarks:
        typer.echo(str(remark))
    errors = sum(remark.is_error for remark in remarks)
    warnings = len(remarks) - errors
    typer.echo(f"{len(documents)} objects, {errors} errors, {warnings} warnings", err=True)
    if errors:
        raise typer.Exit(1)
