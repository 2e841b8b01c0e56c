"""The `quorate` command: one module a subcommand; heavy imports stay inside the commands.

Expected failures leave as one line on standard error and a sensible exit status (see `failures.py`).
"""

import sys

import typer

from quorate.cli import convert, demo, failures, group, lint, manifests, rollout, run, up

app = typer.Typer(
    name="quorate",
    help="Hierarchical elastic gang scheduling for AI workloads on Kubernetes.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(up.up)
app.command()(demo.demo)
app.command()(run.run)
app.command()(manifests.crds)
app.command()(manifests.manifests)
app.command()(convert.convert)
app.command()(group.group)
app.command()(lint.lint)
app.add_typer(rollout.app, name="rollout")


@app.command()
def version() -> None:
    """Print the version."""
    from importlib.metadata import version as installed  # noqa: PLC0415 - only this command needs it

    print(f"quorate {installed('quorate')}")


def main(arguments: list[str] | None = None) -> None:
    given = sys.argv[1:] if arguments is None else arguments
    with failures.as_one_line():
        sys.exit(app(given or ["--help"], prog_name="quorate", standalone_mode=False))
