"""The runner of the JSON cases: its own samples, and the shared cases where they are at hand."""

import json
import os
from pathlib import Path

import pytest

from tests.cases.__main__ import main
from tests.cases.collection import CasesError, collect
from tests.cases.runner import run

SAMPLES = Path(__file__).parent / "cases" / "samples"
SHARED = Path(os.environ.get("QUORATE_CASES", Path(__file__).parents[2] / "shared" / "cases"))


def test_the_samples_come_out_as_expected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SAMPLES)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "cases: 3 passed, 0 failed, 1 deviating, 0 unsupported"


def test_emit_writes_what_was_decided(tmp_path: Path) -> None:
    emitted = tmp_path / "emitted.json"
    assert main([str(SAMPLES), "--family", "gang", "--emit", str(emitted)]) == 0
    decided = json.loads(emitted.read_text())["sample/two-of-three"]
    assert decided["starts"] is True
    assert sorted(decided["placement"]) == ["g/a", "g/b"]


def test_a_file_is_known_by_its_content(tmp_path: Path) -> None:
    for number, path in enumerate(sorted(SAMPLES.rglob("*.json"))):
        (tmp_path / f"{number}.json").write_bytes(path.read_bytes())
    assert {file.family for file in collect(tmp_path)} == {"gang", "grouper"}


def test_a_failing_case_is_shown_and_fails_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = json.loads((SAMPLES / "gang.json").read_text())
    wrong["cases"][0]["expect"] = {"starts": False}
    (tmp_path / "gang.json").write_text(json.dumps(wrong))
    assert main([str(tmp_path)]) == 1
    assert "failed: sample/two-of-three" in capsys.readouterr().out


def test_a_crash_fails_one_case_and_not_the_run(tmp_path: Path) -> None:
    broken = json.loads((SAMPLES / "gang.json").read_text())
    del broken["cases"][0]["gang"]["children"]
    broken["cases"][0]["nodes"] = None
    (tmp_path / "gang.json").write_text(json.dumps(broken))
    (report,) = run(collect(tmp_path))
    assert [outcome.verdict for _, outcome in report.outcomes] == ["failed"]
    assert ".py:" in report.outcomes[0][1].detail


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is not JSON: .*truncated; mend"),
        ("{}", "no cases under"),
        ('{"cases": [{}, 5]}', "list of objects"),
    ],
)
def test_a_directory_without_cases_is_an_error(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(CasesError, match=problem):
        collect(tmp_path)


def test_a_file_that_decisions_cannot_be_written_to_is_named_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(SAMPLES), "--emit", str(tmp_path / "none" / "emitted.json")]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "none/emitted.json: No such file or directory; choose another path" in told.err


def test_a_missing_directory_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no/such/place"]) == 2
    assert "is not a directory" in capsys.readouterr().err


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared cases are not here")
@pytest.mark.parametrize("family", ["gang", "grouper"])
def test_shared_cases_come_out_as_expected(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SHARED), "--family", family]) == 0, capsys.readouterr().out
