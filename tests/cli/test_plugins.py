"""Functions of installed packages: found by entry point, and refused with its name where they mean nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from quorate.cli.groupers import extensions
from quorate.cli.plugins import installed
from quorate.cli.policies import scheduling
from quorate.scheduling.policy import Policy

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Records entry points as installing a package does."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def recorded(package: str, **groups: str) -> None:
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        points = "".join(f"[quorate.{group}]\n{lines}\n" for group, lines in groups.items())
        (folder / "entry_points.txt").write_text(points)

    return recorded


def test_functions_come_in_the_order_of_their_names(install: Install) -> None:
    install("later", filters="b = operator:or_\na = operator:and_")
    install("earlier", filters="a = operator:add")
    assert [(found.name, found.function.__name__) for found in installed("quorate.filters")] == [
        ("a", "add"),
        ("a", "and_"),
        ("b", "or_"),
    ]


def test_what_is_installed_reaches_the_grouper_and_the_scheduler(install: Install) -> None:
    install("mine", groupers="Foo.example.com = operator:not_", filters="a = operator:or_")
    install("other", scorers="b = operator:add")
    assert list(extensions(None).kinds) == [("example.com", "Foo")]
    policy = scheduling(None).policy
    assert len(policy.filters) == len(Policy().filters) + 1
    assert len(policy.scorers) == len(Policy().scorers) + 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            "Foo.example.com = no_such_module:function",
            "ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ("Foo.example.com = operator:no_such_function", "AttributeError: "),
        ("Foo.example.com = string:digits", "this is no function; uninstall the package or mend it"),
        ("Foo.example.com = broken:function", "ZeroDivisionError: division by zero"),
        ("foo = operator:add", '"foo" is no kind: write it with its group'),
    ],
)
def test_an_entry_point_that_cannot_be_used_is_named(
    line: str, why: str, install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.py").write_text("1 / 0")
    install("mine", groupers=line)
    name, value = line.split(" = ")
    with pytest.raises(typer.Exit):
        extensions(None)
    assert f"entry point {name} of quorate.groupers ({value}): {why}" in capsys.readouterr().err


def test_a_kind_is_grouped_by_one_package(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("mine", groupers="Foo.example.com = operator:add")
    install("other", groupers="Foo.example.com = operator:sub")
    with pytest.raises(typer.Exit):
        extensions(None)
    said = (
        "entry point Foo.example.com of quorate.groupers (operator:sub): another package groups this kind too"
    )
    assert said in capsys.readouterr().err
