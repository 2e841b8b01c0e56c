"""Options that several subcommands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

# What our pods name as their scheduler; a cluster that moves over may keep `kai-scheduler` here.
SCHEDULER_NAME = "quorate"
# 32 nodes in 4 racks: every example of ours has room and topology enough.
NODES = "32x8gpu,rack=8,zone=32"


class Level(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


LogLevel = Annotated[Level, typer.Option("--log-level", help="What to log on standard error.")]
Only = Annotated[
    list[str] | None, typer.Option("--only", help="Run this controller only; may be given more than once.")
]
SchedulerName = Annotated[str, typer.Option("--scheduler-name", help="The pods to care for.")]
Files = Annotated[
    list[Path],
    typer.Option("--filename", "-f", help="A YAML or JSON file or a folder of them; - reads standard input."),
]
Mapping = Annotated[
    Path | None,
    typer.Option("--grouping-file", help="Groups custom kinds without code; see docs/grouping.md."),
]
PolicyFile = Annotated[
    Path | None,
    typer.Option("--policy-file", help="How the scheduler decides; see docs/scheduling.md."),
]
