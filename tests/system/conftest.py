"""The cluster that system tests run on: `quorate up` in a process of its own, or any other by --kubeconfig.

Tests see what a user sees: a kubeconfig. Each has a namespace of its own.
"""

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from tests.kubectl import Kubectl, Version
from tests.system.cluster import Cluster, embedded

VERSIONS: tuple[Version, ...] = ("1.32", "1.37")
_names = itertools.count()


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    given = cast("str", request.config.getoption("--kubeconfig"))
    if given:
        yield Cluster(Path(given), is_embedded=False)
        return
    kubeconfig = tmp_path_factory.mktemp("cluster") / "kubeconfig"
    with embedded(kubeconfig, "--nodes", "8x8gpu,rack=4"):
        yield Cluster(kubeconfig, is_embedded=True)


@pytest.fixture(params=VERSIONS)
def kubectl(
    cluster: Cluster, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kubectl]:
    """Both kubectl versions in turn, in a namespace of the test's own."""
    yield from in_own_namespace(cluster, tmp_path_factory, cast("Version", request.param))


@pytest.fixture
def shell(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """The newer kubectl, for tests of the product rather than of the API server."""
    yield from in_own_namespace(cluster, tmp_path_factory, "1.37")


def in_own_namespace(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, version: Version
) -> Iterator[Kubectl]:
    home = tmp_path_factory.getbasetemp() / f"home-{version}"
    home.mkdir(exist_ok=True)
    runner = Kubectl(cluster.kubeconfig, home, version)
    namespace = f"t{next(_names)}-{int(time.time()) % 100000}"
    runner("create", "namespace", namespace)
    yield runner.within(namespace)
    runner("delete", "namespace", namespace, "--wait=false")
