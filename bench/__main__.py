"""`python -m bench`: run the scenarios, print a table, write it down; `--full` adds those that take long.

Times are milliseconds: encode and join of the snapshot, then the decision (median, 99th percentile, best, CPU), then
the floor, a bare NumPy kernel over the same arrays, and the ratio of the CPU time to it; `rest` is the CPU time at the
pace of a quiet machine. A target is met by the median of a decision and by the 99th percentile of churn.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import openb, report
from bench.growth import growths
from bench.machine import load, machine
from bench.measure import CHURN, Measured, alone
from bench.scenarios import SCENARIOS

TIMES = ("encode", "snapshot", "median", "p99", "best", "cpu", "at_rest", "floor")
COUNTS = ("nodes", "forks", "states")


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    at = machine()
    print(at)
    heads = "".join(f"{name:>9}" for name in TIMES)
    print(f"{'':<62}{heads}{'ratio':>7}{'nodes':>10}{'forks':>7}{'states':>8}{'MiB':>6}  verdict")
    found, died = list[Measured](), list[str]()
    for name in _chosen(options):
        one = alone(name, options.repeat)
        if one is None:
            died.append(name)
            print(f"{name:<62} died", flush=True)
        else:
            found.append(one)
            print(_line(one), flush=True)
    grown = list(growths(found))
    for growth in grown:
        print(growth)
    placed = _placements(options) if options.only in "openb" else []
    if options.results:
        at["load_at_the_end"] = load()
        report.write(options.results, report.Results(at, found, died, grown, placed))
    is_wrong = any(one.faults for one in found) or any(one.faults for one in placed)
    return 1 if died or is_wrong else 0


def _chosen(options: argparse.Namespace) -> Iterator[str]:
    known = {one.name: one.is_quick for one in SCENARIOS} | {one.name: one.is_quick for one in CHURN}
    for name, is_quick in sorted(known.items(), key=lambda item: item[0][:2]):
        if (options.full or is_quick) and options.only in name:
            yield name


def _line(one: Measured) -> str:
    times = "".join(f"{1e3 * getattr(one, name):>9.1f}" for name in TIMES)
    counts = f"{one.nodes:>10}{one.forks:>7}{one.states:>8}{one.peak_mib:>6}"
    return f"{one.name:<62}{times}{one.ratio:>7.1f}{counts}  {one.verdict} {'; '.join(one.faults[:2])}"


def _placements(options: argparse.Namespace) -> list[openb.Placed]:
    """GPUs allocated at 130 % demand, in %."""
    folder = Path(options.traces)
    if not folder.is_dir():
        print(f"openb: no traces at {folder}; name their folder with --traces")
        return []
    nodes = openb.read_nodes(folder)
    found = []
    for trace in ("default", "multigpu50"):
        found.append(openb.placed(folder, nodes, trace, seeds=10 if options.full else 1))
        print(found[-1])
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--full", action="store_true", help="also run the scenarios that take long")
    parser.add_argument("--only", default="", metavar="TEXT", help="run scenarios whose name contains it")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="how often each is decided")
    parser.add_argument("--traces", default="../shared/traces/openb", metavar="DIR", help="the openb lists")
    parser.add_argument(
        "--results", type=Path, metavar="DIR", help="write the results there, as JSON and a page"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
