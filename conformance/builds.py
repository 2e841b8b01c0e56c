"""The programs of a real control plane, built from the Go module proxy through go.mod files of ours.

`programs()` hands their paths to `servers`. Builds are kept by the hash of what they are made from.
"""

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent / ".cache" / "conformance"

# module folder -> packages whose programs are built
MODULES = {
    "etcd": ("go.etcd.io/etcd/server/v3",),
    "kubernetes": ("k8s.io/kubernetes/cmd/kube-apiserver", "k8s.io/kubernetes/cmd/kube-controller-manager"),
}
NAMES = {"go.etcd.io/etcd/server/v3": "etcd"}
ENVIRONMENT = {"CGO_ENABLED": "0", "GOFLAGS": "-trimpath -buildvcs=false", "GOTOOLCHAIN": "local"}
LDFLAGS = "-s -w -X k8s.io/component-base/version.gitVersion={version}"


class MissingGoError(Exception):
    """There is no Go on this machine."""


class BuildError(Exception):
    """A program could not be built; the message is what the compiler said last."""


@dataclass(frozen=True, slots=True)
class Programs:
    etcd: Path
    apiserver: Path
    controller_manager: Path


def programs() -> Programs:
    """Build what is not built yet."""
    go = shutil.which("go")
    if go is None:
        raise MissingGoError("Go is not installed: conformance builds kube-apiserver and etcd with it")
    folders = {module: _built(go, module) for module in MODULES}
    kubernetes = folders["kubernetes"]
    return Programs(
        folders["etcd"] / "etcd", kubernetes / "kube-apiserver", kubernetes / "kube-controller-manager"
    )


def kubernetes_version() -> str:
    """The version that go.mod requires, such as `v1.36.3`."""
    lines = (HERE / "kubernetes" / "go.mod").read_text().splitlines()
    return next(words[-1] for line in lines if (words := line.split())[-2:-1] == ["k8s.io/kubernetes"])


def _built(go: str, module: str) -> Path:
    source = HERE / module
    folder = CACHE / f"{module}-{_digest(go, source)}"
    if folder.is_dir():
        return folder
    partial = folder.with_suffix(".partial")
    partial.mkdir(parents=True, exist_ok=True)
    for package in MODULES[module]:
        print(f"building {package} (minutes the first time)", flush=True)
        _build(go, source, package, partial / NAMES.get(package, package.rpartition("/")[2]))
    partial.rename(folder)
    return folder


def _build(go: str, source: Path, package: str, target: Path) -> None:
    flags = LDFLAGS.format(version=kubernetes_version())
    done = subprocess.run(
        [go, "build", "-mod=readonly", "-ldflags", flags, "-o", str(target), package],
        cwd=source,
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise BuildError(f"go build {package} failed: {last}")


def _digest(go: str, source: Path) -> str:
    version = subprocess.run([go, "version"], capture_output=True, text=True, check=True).stdout
    content = version.encode() + (source / "go.mod").read_bytes() + (source / "go.sum").read_bytes()
    return hashlib.sha256(content + LDFLAGS.encode() + repr(MODULES).encode()).hexdigest()[:16]
