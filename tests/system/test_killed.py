"""The controllers are killed between two binds, or lose some of them: gangs are completed, nothing is lost."""

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.gate import Gate, standing
from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl
from tests.system.cluster import embedded
from tests.system.test_gangs import job

JOBS, MEMBERS = 3, 100
BEFORE = 150  # binds that happen: one gang and a half


@contextmanager
def controllers(kubeconfig: Path, *more: str) -> Iterator["subprocess.Popen[bytes]"]:
    command = ["run", "--kubeconfig", str(kubeconfig), "--health-port", "0", "--log-level", "error", *more]
    only = [f"--only={name}" for name in ("grouper", "scheduler", "status")]
    process = subprocess.Popen([sys.executable, "-m", "quorate.cli", *command, *only])
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(20)


@pytest.fixture
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kubectl]:
    """A cluster without controllers of ours."""
    if request.config.getoption("--kubeconfig"):
        pytest.skip("the controllers of that cluster are not ours to kill")
    kubeconfig = tmp_path / "kubeconfig"
    with embedded(kubeconfig, "--nodes", "30x10gpu", "--no-controllers"):
        yield Kubectl(kubeconfig, tmp_path)


def seats(shell: Kubectl) -> list[tuple[str, str]]:
    pods = shell.get("pods")["items"]
    return [(pod["metadata"]["labels"]["job"], pod["spec"].get("nodeName", "")) for pod in pods]


def test_killed_between_two_binds_nothing_is_lost(bare: Kubectl, tmp_path: Path) -> None:
    for number in range(JOBS):
        bare.apply(job(f"j{number}", pods=MEMBERS, gpus=1, minimum=MEMBERS))
    eventually(lambda: len(bare.get("pods")["items"]), until=lambda count: count == JOBS * MEMBERS)
    with standing(Gate(tmp_path, through=BEFORE, keeps_waiting=True), bare) as gate:
        with controllers(bare.kubeconfig) as process:
            eventually(lambda: gate.is_reached, within=60)
            process.send_signal(signal.SIGKILL)
            process.wait()
        some = sum(bool(node) for _, node in seats(bare))
    assert 0 < some <= BEFORE  # a bind of a pod that has a newer revision passes the gate and is refused
    with controllers(bare.kubeconfig):
        found = eventually(lambda: seats(bare), until=lambda all_: all(node for _, node in all_))
    assert Counter(name for name, _ in found) == Counter({f"j{number}": MEMBERS for number in range(JOBS)})
    assert max(Counter(node for _, node in found).values()) <= 10


def leader(shell: Kubectl) -> str:
    found = shell.run("get", "lease", "quorate", "-n", "quorate-system", "-o", "json")
    return str(json.loads(found.out)["spec"].get("holderIdentity", "")) if found.code == 0 else ""


def test_the_leader_is_killed_in_a_rush_and_the_other_process_finishes_it(
    bare: Kubectl, tmp_path: Path
) -> None:
    """Half of the gangs fit; the one that was bound in part is completed, and no node takes more than it has."""
    jobs = 2 * JOBS
    for number in range(jobs):
        bare.apply(job(f"j{number}", pods=MEMBERS, gpus=1, minimum=MEMBERS))
    eventually(lambda: len(bare.get("pods")["items"]), until=lambda count: count == jobs * MEMBERS)
    with (
        standing(Gate(tmp_path, through=BEFORE, keeps_waiting=True), bare) as gate,
        controllers(bare.kubeconfig, "--leader-elect") as first,
    ):
        held = eventually(lambda: leader(bare), within=60)
        with controllers(bare.kubeconfig, "--leader-elect"):
            eventually(lambda: gate.is_reached, within=60)
            first.send_signal(signal.SIGKILL)
            first.wait()
            # a pod that is told why it waited has another revision: its bind passes the gate and is refused then
            assert 0 < sum(bool(node) for _, node in seats(bare)) <= BEFORE
            gate.is_open = True
            gate.refuse_who_waits()
            eventually(lambda: leader(bare), until=lambda holder: holder not in {"", held}, within=60)
            found = eventually(
                lambda: [name for name, node in seats(bare) if node],
                until=lambda bound: len(bound) == JOBS * MEMBERS,
                within=60,
            )
            eventually(lambda: len(refused(bare)), until=lambda count: count == jobs - JOBS)
            nodes = [node for _, node in seats(bare) if node]
    assert set(Counter(found).values()) == {MEMBERS}
    assert set(Counter(nodes).values()) == {10}


def refused(shell: Kubectl) -> list[str]:
    groups = shell.get("podgroups.scheduling.run.ai")["items"]
    return [one["metadata"]["name"] for one in groups if one.get("status", {}).get("schedulingConditions")]
