"""The LeaderWorkerSets that we show pass our own checks."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from quorate.cli.main import app

EXAMPLES = Path(__file__).parents[2] / "examples" / "lws"
MANIFESTS = sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.yaml"))


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_an_example_has_neither_errors_nor_warnings(manifest: str) -> None:
    done = CliRunner().invoke(app, ["lint", "-f", str(EXAMPLES / manifest)])
    assert done.exit_code == 0, done.output
    assert "0 errors, 0 warnings" in done.output
