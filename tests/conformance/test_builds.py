"""Where the programs of a real control plane come from."""

from pathlib import Path

import pytest

from conformance import __main__ as command
from conformance import builds


def test_a_machine_without_go_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert command.main([]) == 3
    assert capsys.readouterr().err == (
        "error: Go is not installed: conformance builds kube-apiserver and etcd with it\n"
    )


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["everything"]) == 2
    assert "none of parity, system" in capsys.readouterr().err


def test_the_version_is_the_one_that_go_mod_requires() -> None:
    assert builds.kubernetes_version().startswith("v1.")


def test_every_module_pins_what_it_builds() -> None:
    for module in builds.MODULES:
        folder = Path(builds.__file__).parent / module
        assert (folder / "go.mod").is_file()
        assert (folder / "go.sum").is_file()
