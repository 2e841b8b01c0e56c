"""Results as files: everything as JSON, and a page for people with what was met and what was missed."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from bench.growth import Growth
from bench.measure import Measured
from bench.openb import Placed

Json = dict[str, Any]
HEADS = (
    "scenario",
    "target ms",
    "median",
    "p99",
    "CPU",
    "floor",
    "ratio",
    "nodes",
    "forks",
    "states",
    "MiB",
    "",
)


@dataclass(frozen=True)
class Results:
    machine: Json
    found: Sequence[Measured]
    died: Sequence[str]  # scenarios whose process ended before they were measured
    grown: Sequence[Growth]
    placed: Sequence[Placed]


def write(folder: Path, results: Results) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shown = {
        "machine": results.machine,
        "results": [{**asdict(one), "at_rest": one.at_rest, "verdict": one.verdict} for one in results.found],
        "died": results.died,
        "growth": [{**asdict(one), "verdict": one.verdict} for one in results.grown],
        "openb": results.placed,
    }
    (folder / "scheduling.json").write_bytes(msgspec.json.format(msgspec.json.encode(shown)) + b"\n")
    (folder / "scheduling.md").write_text(_page(results))


def _page(results: Results) -> str:
    found, grown, placed = results.found, results.grown, results.placed
    missed = [
        *(f"{one.name} ({one.verdict})" for one in found if one.verdict != "ok"),
        *(f"{name} (died)" for name in results.died),
        *(f"{one.large} ({one.verdict})" for one in grown if one.verdict != "ok"),
        *(f"openb {one.trace} (WRONG)" for one in placed if one.faults),
    ]
    said = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in results.machine.items())
    lines = [
        "# The scheduler's decisions, measured",
        "",
        f"By `make bench-full`, on: {said}.",
        "",
        f"{len(found)} scenarios, all plans judged by an independent checker. "
        + (f"Missed: {'; '.join(missed)}." if missed else "Every target was met."),
        "",
        "Times are milliseconds of one whole decision, or of one whole cycle under churn (D8: the target is for p99).",
        "The floor is a bare NumPy kernel over the same arrays in the same process, the ratio the CPU time over it.",
        "`busy`: late by the clock on a machine that others used, but not by the CPU time at a quiet one's pace.",
        "",
        f"| {' | '.join(HEADS)} |",
        f"|{'|'.join(['---', *['---:'] * (len(HEADS) - 2), '---'])}|",
        *(_row(one) for one in found),
        "",
        "## Growth of CPU time with the input",
        "",
        "| from | to | times | at most (n log n) | |",
        "|---|---|---:|---:|---|",
        *(
            f"| {one.small} | {one.large} | {one.times:.1f} | {one.most:.1f} | {one.verdict} |"
            for one in grown
        ),
        "",
        "## Placement: openb, whole-GPU rows, GPUs allocated at 130 % demand, in %",
        "",
        "| trace | seeds | ours | best-fit | random |",
        "|---|---:|---:|---:|---:|",
        *(f"| {one.trace} | {one.seeds} | {one.ours} | {one.best_fit} | {one.random} |" for one in placed),
    ]
    return "\n".join(lines) + "\n"


def _row(one: Measured) -> str:
    target = f"{1e3 * one.target:g}" if one.target is not None else ""
    times = [f"{1e3 * value:.1f}" for value in (one.median, one.p99, one.cpu, one.floor)]
    memory = f"{one.peak_mib} of {one.most_mib}" if one.most_mib else f"{one.peak_mib}"
    cells = [
        one.name,
        target,
        *times,
        f"{one.ratio:.1f}",
        f"{one.nodes}",
        f"{one.forks}",
        f"{one.states}",
        memory,
    ]
    return f"| {' | '.join([*cells, one.verdict])} |"
