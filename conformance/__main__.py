"""`python -m conformance [parity|system] [-- PYTEST…]`: our tests on a real API server. Both, if none is named.

Exit status: 0 all is well, 1 something differs or fails, 2 wrong use, 3 there is no Go to build the servers with.
"""

import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from conformance import webhook
from conformance.builds import BuildError, MissingGoError, Programs, kubernetes_version, programs
from conformance.parity import compare
from conformance.scenarios import ALL
from conformance.servers import ServerError, control_plane, free_port
from quorate.kube.kubeconfig import connect
from tests.kubectl import Kubectl, UnavailableError
from tests.system.cluster import embedded

NODES = "8x8gpu,rack=4"
PARTS = ("parity", "system")


class WarnedError(Exception):
    """The server warned of something we installed."""


def main(arguments: list[str]) -> int:
    named, options = _split(arguments)
    chosen = [part for part in PARTS if not named or part in named]
    unknown = [part for part in named if part not in PARTS]
    if unknown:
        print(f"error: {unknown[0]!r} is none of {', '.join(PARTS)}", file=sys.stderr)
        return 2
    try:
        built = programs()
        print(f"kube-apiserver {kubernetes_version()}", flush=True)
        codes = [parity(built) if part == "parity" else system(built, options) for part in chosen]
    except MissingGoError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except (BuildError, ServerError, WarnedError, webhook.UnansweredError, UnavailableError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return max(codes)


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """What is ours, and what follows `--` and is for pytest."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:end], arguments[end + 1 :]


def parity(built: Programs) -> int:
    """The REST scenarios on both servers."""
    started = time.monotonic()
    with contextlib.ExitStack() as running:
        own = Path(running.enter_context(tempfile.TemporaryDirectory())) / "kubeconfig"
        real = running.enter_context(control_plane(built))
        running.enter_context(embedded(own, "--nodes", "1x8gpu", "--no-controllers"))
        compared = asyncio.run(compare(connect([own]), connect([real]), ALL))
    for difference in compared.differences:
        print(difference)
    for deviation in compared.deviations:
        print(f"known deviation: {deviation}")
    for place, count in compared.common_places():
        print(f"{count:4d} answers differ at {place}")
    equal = compared.requests - len(compared.differences) - len(compared.deviations)
    print(f"parity: {equal} of {compared.requests} answers equal in {time.monotonic() - started:.0f} s")
    return 1 if compared.differences else 0


def system(built: Programs, options: list[str]) -> int:
    """The system tests, with our definitions, controllers and fake nodes on a real control plane."""
    with tempfile.TemporaryDirectory() as home:
        prepare = partial(install, home=Path(home))
        with control_plane(built, prepare) as kubeconfig, contextlib.ExitStack() as running:
            running.enter_context(_process("conformance.kubelet", str(kubeconfig), NODES))
            port = free_port()
            served = ("--webhook-port", str(port), "--webhook-certificates", f"{home}/webhook")
            controllers = (
                "run",
                "--kubeconfig",
                str(kubeconfig),
                "--health-port",
                "0",
                "--log-level",
                "error",
            )
            running.enter_context(_process("quorate.cli", *controllers, *served))
            webhook.install(Kubectl(kubeconfig, Path(home)), port)
            tests = [
                sys.executable,
                "-m",
                "pytest",
                "tests/system",
                "--kubeconfig",
                str(kubeconfig),
                *options,
            ]
            return min(1, subprocess.run(tests, check=False).returncode)


def install(kubeconfig: Path, home: Path) -> None:
    """Install what `quorate crds` and `quorate manifests` print; a warning of the server is an error."""
    kubectl = Kubectl(kubeconfig, home)
    for command in ("crds", "manifests"):
        printed = subprocess.run(
            [sys.executable, "-m", "quorate.cli", command], capture_output=True, text=True, check=True
        )
        done = kubectl.run("apply", "--server-side", "--filename", "-", stdin=printed.stdout).checked()
        if done.err.strip():
            raise WarnedError(f"quorate {command}: {done.err.strip()}")
    kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=30s")


@contextlib.contextmanager
def _process(module: str, *arguments: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-m", module, *arguments])
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
