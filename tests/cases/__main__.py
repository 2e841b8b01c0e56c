"""`python -m tests.cases DIR`: run the cases under a directory and say how many came out as expected."""

import argparse
import sys
from collections import Counter
from pathlib import Path

import msgspec

from tests.cases.collection import FAMILIES, CasesError, collect
from tests.cases.runner import VERDICTS, Report, run


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        files = collect(options.directory)
        if options.emit:
            options.emit.touch()  # before minutes of work that could not be kept
    except CasesError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"error: --emit {options.emit}: {error.strerror}; choose another path\n")
        return 2
    reports = []
    for report in run(files, family=options.family or "", only=options.only):
        _print_file(report, verbose=options.verbose)
        reports.append(report)
    totals = {verdict: sum(report.count(verdict) for report in reports) for verdict in VERDICTS}
    _print_reasons(reports)
    if options.emit:
        emitted = {identity: value for report in reports for identity, value in report.emitted.items()}
        options.emit.write_bytes(msgspec.json.encode(emitted))
    sys.stdout.write(
        f"cases: {totals['passed']} passed, {totals['failed']} failed, "
        f"{totals['deviating']} deviating, {totals['unsupported']} unsupported\n"
    )
    return 1 if totals["failed"] else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description=__doc__)
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--family", choices=FAMILIES, help="run the cases of one family")
    parser.add_argument(
        "--emit", type=Path, metavar="FILE", help="write what was decided for each case, as JSON"
    )
    parser.add_argument(
        "--only", default="", metavar="SUBSTRING", help="run cases whose file or id contains it"
    )
    parser.add_argument("--verbose", "-v", action="store_true", help="print every case that did not pass")
    return parser


def _print_file(report: Report, *, verbose: bool) -> None:
    counts = "  ".join(f"{report.count(verdict):5d} {verdict}" for verdict in VERDICTS)
    sys.stdout.write(f"{report.file.label:<60} {counts}\n")
    for identity, outcome in report.outcomes:
        if outcome.verdict == "failed" or (verbose and outcome.verdict != "passed"):
            detail = outcome.detail if verbose else outcome.detail.split("\n", 1)[0][:300]
            sys.stdout.write(f"  {outcome.verdict}: {identity}: {detail}\n")


def _print_reasons(reports: list[Report]) -> None:
    """Name each deviation and each missing feature once, with how many cases it covers."""
    for verdict in VERDICTS[2:]:
        reasons = Counter(
            outcome.detail
            for report in reports
            for _, outcome in report.outcomes
            if outcome.verdict == verdict
        )
        for reason, count in sorted(reasons.items()):
            sys.stdout.write(f"{verdict}: {count} x {reason}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
