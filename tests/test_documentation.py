"""What the documentation names is there: files, targets of make, commands, controllers."""

import re
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from quorate.cli.main import app
from quorate.controllers import app as _controllers  # noqa: F401 - registers its metrics

REPOSITORY = Path(__file__).parents[1]
PAGES = [
    *REPOSITORY.glob("*.md"),
    *(REPOSITORY / "docs").rglob("*.md"),
    *(REPOSITORY / "examples").rglob("*.md"),
]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_leads_to_a_file(page: Path) -> None:
    broken = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert broken == []


def test_every_target_and_command_that_is_named_exists() -> None:
    texts = " ".join(page.read_text() for page in PAGES)
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", texts)) <= targets
    groups = {group.name for group in app.registered_groups}
    commands = {one.name or getattr(one.callback, "__name__", "") for one in app.registered_commands}
    assert set(re.findall(r"`quorate ([a-z-]+)", texts)) <= commands | groups


def test_every_metric_has_its_row_and_every_row_its_metric() -> None:
    """Counters are shown with `_total`; all modules that measure are imported by the command line."""
    shown = set()
    for family in REGISTRY.collect():
        ending = "_total" if family.type == "counter" else ""
        shown.add(f"{family.name}{ending}")
    ours = {name for name in shown if name.startswith("quorate_")}
    told = set(re.findall(r"`(quorate_[a-z_]+)`", (REPOSITORY / "docs" / "scheduling.md").read_text()))
    assert told == ours
