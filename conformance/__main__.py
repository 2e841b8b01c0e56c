"""`python -m conformance [parity|system]`: our tests on a real API server. Both, if none is named.

Exit status: 0 all is well, 1 something differs or fails, 2 wrong use, 3 there is no Go to build the servers with.
"""

import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from conformance.builds import BuildError, MissingGoError, Programs, kubernetes_version, programs
from conformance.parity import compare
from conformance.scenarios import ALL
from conformance.servers import ServerError, control_plane
from quorate.kube.kubeconfig import connect
from tests.kubectl import Kubectl, UnavailableError
from tests.system.cluster import embedded

NODES = "8x8gpu,rack=4"
PARTS = ("parity", "system")


class WarnedError(Exception):
    """The server warned of something we installed."""


def main(arguments: list[str]) -> int:
    chosen = [part for part in PARTS if not arguments or part in arguments]
    unknown = [part for part in arguments if part not in PARTS]
    if unknown:
        print(f"error: {unknown[0]!r} is none of {', '.join(PARTS)}", file=sys.stderr)
        return 2
    try:
        built = programs()
        print(f"kube-apiserver {kubernetes_version()}", flush=True)
        codes = [{"parity": parity, "system": system}[part](built) for part in chosen]
    except MissingGoError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except (BuildError, ServerError, WarnedError, UnavailableError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return max(codes)


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


def system(built: Programs) -> int:
    """The system tests, with our definitions, controllers and fake nodes on a real control plane."""
    with control_plane(built) as kubeconfig, tempfile.TemporaryDirectory() as home:
        install(Kubectl(kubeconfig, Path(home)))
        with contextlib.ExitStack() as running:
            running.enter_context(_process("conformance.kubelet", str(kubeconfig), NODES))
            running.enter_context(
                _process("quorate.cli", "run", "--kubeconfig", str(kubeconfig), "--health-port", "0")
            )
            tests = [sys.executable, "-m", "pytest", "tests/system", "--kubeconfig", str(kubeconfig)]
            return min(1, subprocess.run(tests, check=False).returncode)


def install(kubectl: Kubectl) -> None:
    """Install what `quorate crds` and `quorate manifests` print; a warning of the server is an error."""
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
