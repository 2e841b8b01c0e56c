"""A cluster to test on, and `quorate up` as a user starts it."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest


class Cluster:
    """A running cluster with the product's controllers on it."""

    def __init__(self, kubeconfig: Path, *, is_embedded: bool) -> None:
        self.kubeconfig = kubeconfig
        self.is_embedded = is_embedded


class embedded:  # noqa: N801 - a context manager that reads as a verb's object
    """`quorate up` as a user starts it; leaves when the block ends, and insists that it left cleanly."""

    def __init__(self, kubeconfig: Path, *arguments: str) -> None:
        self._log = kubeconfig.with_suffix(".log")
        self._command = [sys.executable, "-m", "quorate.cli", "up", "--port", "0"]
        self._command += ["--kubeconfig", str(kubeconfig), *arguments]

    def __enter__(self) -> "subprocess.Popen[str]":
        with self._log.open("w") as log:
            self.process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if re.match(r"ready in ", line):
                return self.process
        self.process.wait()
        pytest.fail(f"quorate up ended with status {self.process.returncode}:\n{self._log.read_text()}")

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        assert self.process.stdout is not None
        self.process.stdout.close()
        assert self.process.wait(20) in {0, 130, -signal.SIGKILL}, self._log.read_text()
