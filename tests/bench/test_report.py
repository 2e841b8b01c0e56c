"""The page of results says what was missed, and why."""

from dataclasses import replace
from pathlib import Path

from bench.measure import QUIET, Measured
from bench.openb import Placed
from bench.report import Results, write

MET = Measured(
    name="quick",
    encode=0.1,
    snapshot=0.1,
    median=0.01,
    p99=0.02,
    best=0.01,
    cpu=0.01,
    floor=0.001,
    ratio=10.0,
    nodes=1,
    forks=0,
    states=1,
    peak_mib=40,
    pace=QUIET,
    target=0.015,
    most_mib=None,
    faults=[],
)


def page(folder: Path, *found: Measured, died: tuple[str, ...] = (), placed: tuple[Placed, ...] = ()) -> str:
    write(folder, Results({"cores": 2}, found, died, (), placed))
    return (folder / "scheduling.md").read_text()


def test_what_met_its_target_is_not_named_as_missed(tmp_path: Path) -> None:
    assert "Every target was met." in page(tmp_path, MET)


def test_each_way_to_miss_is_named(tmp_path: Path) -> None:
    missed = (
        replace(MET, name="late", median=0.03, cpu=0.03),
        replace(MET, name="disturbed", median=0.03),
        replace(MET, name="big", most_mib=30),
        replace(MET, name="false", faults=["a node holds too much"]),
        replace(MET, name="D8 churn"),
    )
    placed = Placed("default", 1, 97.0, 96.0, 90.0, ["a pod stands nowhere"])
    found = page(tmp_path, MET, *missed, died=("gone",), placed=(placed,))
    assert (
        "Missed: late (slow); disturbed (busy); big (large); false (WRONG); D8 churn (busy); gone (died); "
        "openb default (WRONG)." in found
    )
