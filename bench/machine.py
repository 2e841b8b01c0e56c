"""What figures were measured on, and how busy it was."""

import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np


def machine() -> dict[str, Any]:
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "load": load(),
        "pace_ns": round(pace(), 1),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


def load() -> float:
    """How many processes wanted to run in the last minute, on average."""
    return round(os.getloadavg()[0], 2)


def pace() -> float:
    """Nanoseconds of one turn of a bare loop, on average: what is left of the machine."""
    turns = 2_000_000
    begin = time.process_time()
    for number in range(turns):
        _ = number * number
    return (time.process_time() - begin) / turns * 1e9
