"""A real control plane on loopback: etcd, kube-apiserver and kube-controller-manager.

`control_plane()` starts them, waits until they are ready and hands out the kubeconfig; leaving it ends them.
"""

import contextlib
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from conformance import pki
from conformance.builds import Programs

START_SECONDS = 120.0
STOP_SECONDS = 15.0


class ServerError(Exception):
    """A server did not start; the message has the end of its log."""


class Server:
    """One process of the control plane with its log."""

    def __init__(self, name: str, command: list[str], folder: Path) -> None:
        self.name = name
        self._log = folder / f"{name}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder)

    def wait_until(self, is_ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise ServerError(f"{self.name} did not become ready:\n{self.tail()}")
            time.sleep(0.1)

    def tail(self, lines: int = 15) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-lines:])

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextlib.contextmanager
def control_plane(
    programs: Programs, prepare: Callable[[Path], None] = lambda _: None, *, manager: Sequence[str] = ()
) -> Iterator[Path]:
    """The kubeconfig of a running control plane; `manager` are further flags of kube-controller-manager.

    What `prepare` installs is there before kube-controller-manager starts, which looks for new kinds only twice a
    minute.
    """
    with tempfile.TemporaryDirectory(prefix="conformance-") as name, contextlib.ExitStack() as running:
        folder = Path(name)
        credentials = pki.create(folder / "pki")
        etcd_port, api_port = free_port(), free_port()
        etcd = Server("etcd", _etcd(programs, folder, etcd_port), folder)
        running.callback(etcd.stop)
        etcd.wait_until(lambda: _answers(f"http://127.0.0.1:{etcd_port}/health"))
        apiserver = Server("kube-apiserver", _apiserver(programs, credentials, etcd_port, api_port), folder)
        running.callback(apiserver.stop)
        context = ssl.create_default_context(cafile=credentials.path("ca.crt"))
        context.load_cert_chain(credentials.path("admin.crt"), credentials.path("admin.key"))
        apiserver.wait_until(lambda: _answers(f"https://127.0.0.1:{api_port}/readyz", context))
        kubeconfig = pki.kubeconfig(credentials, api_port)
        prepare(kubeconfig)
        command = [*_controller_manager(programs, credentials, kubeconfig), *manager]
        running.callback(Server("kube-controller-manager", command, folder).stop)
        account = f"https://127.0.0.1:{api_port}/api/v1/namespaces/default/serviceaccounts/default"
        apiserver.wait_until(lambda: _answers(account, context))
        yield kubeconfig


def _etcd(programs: Programs, folder: Path, port: int) -> list[str]:
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{free_port()}"
    return [
        str(programs.etcd),
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--log-level=error",
    ]


def _apiserver(programs: Programs, credentials: pki.Credentials, etcd_port: int, port: int) -> list[str]:
    return [
        str(programs.apiserver),
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={credentials.folder}",
        f"--tls-cert-file={credentials.path('server.crt')}",
        f"--tls-private-key-file={credentials.path('server.key')}",
        f"--client-ca-file={credentials.path('ca.crt')}",
        f"--service-account-key-file={credentials.path('accounts.key')}",
        f"--service-account-signing-key-file={credentials.path('accounts.key')}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=RBAC",
        "--endpoint-reconciler-type=none",
        "--watch-cache=true",
    ]


def _controller_manager(programs: Programs, credentials: pki.Credentials, kubeconfig: Path) -> list[str]:
    return [
        str(programs.controller_manager),
        f"--kubeconfig={kubeconfig}",
        f"--service-account-private-key-file={credentials.path('accounts.key')}",
        f"--root-ca-file={credentials.path('ca.crt')}",
        "--use-service-account-credentials=true",
        "--leader-elect=false",
        "--secure-port=0",
    ]


def _answers(url: str, context: ssl.SSLContext | None = None) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2, context=context) as answer:  # noqa: S310  our own loopback address
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
