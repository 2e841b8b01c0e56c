"""Run cases through the adapters of their families and count what came of them.

The command line prints the `Report`s; tests read them.
"""

import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

from tests.cases.adapters import adapter_for
from tests.cases.collection import CaseFile
from tests.cases.outcome import Outcome, Verdict, failed

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class Report:
    """The outcomes of one file, by case identity, in the file's order."""

    file: CaseFile
    outcomes: tuple[tuple[str, Outcome], ...]

    def count(self, verdict: Verdict) -> int:
        return sum(outcome.verdict == verdict for _, outcome in self.outcomes)

    @property
    def emitted(self) -> dict[str, Any]:
        return {
            identity: outcome.emitted for identity, outcome in self.outcomes if outcome.emitted is not None
        }


def run(files: list[CaseFile], *, family: str = "", only: str = "") -> Iterator[Report]:
    """Run file by file; `family` keeps one family, `only` the cases whose file or identity holds the text."""
    for file in files:
        if family and file.family != family:
            continue
        chosen = [
            (file.identity(index), index)
            for index in range(len(file.cases))
            if only in file.identity(index) or only in file.label
        ]
        if chosen:
            yield Report(file, tuple((identity, _outcome(file, index)) for identity, index in chosen))


def _outcome(file: CaseFile, index: int) -> Outcome:
    case = file.cases[index]
    try:
        return adapter_for(file, case)(case, file.context)
    except Exception as error:  # noqa: BLE001  a crash in an adapter fails its case, not the run
        where = traceback.extract_tb(error.__traceback__)[-1]
        return failed(f"{type(error).__name__}: {error} ({where.filename.rpartition('/')[2]}:{where.lineno})")
