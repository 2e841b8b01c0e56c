"""Options that several subcommands share."""

from enum import StrEnum
from typing import Annotated

import typer

# What our pods name as their scheduler; a cluster that moves over may keep `kai-scheduler` here.
SCHEDULER_NAME = "quorate"


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
