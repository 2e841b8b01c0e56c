"""The API server refuses some binds of a gang: it is completed once they are let through, or else given up."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.gate import Gate, standing
from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl
from tests.system.test_gangs import job, phases, podgroup


@pytest.fixture
def gate(shell: Kubectl, tmp_path: Path) -> Iterator[Gate]:
    with standing(Gate(tmp_path, through=2), shell) as found:
        yield found


def bound(shell: Kubectl) -> set[str]:
    return {pod["metadata"]["name"] for pod in shell.get("pods")["items"] if pod["spec"].get("nodeName")}


def says(shell: Kubectl) -> str:
    return str(podgroup(shell, "pg-half-").get("status", {}))


def test_a_gang_of_which_half_was_bound_is_completed(shell: Kubectl, gate: Gate) -> None:
    shell.apply(job("half", pods=4, gpus=1, minimum=4))
    eventually(lambda: says(shell), until=lambda text: "gate is shut" in text)
    assert bound(shell) == gate.allowed
    assert len(gate.allowed) == 2
    gate.is_open = True
    eventually(lambda: phases(shell, "job=half"), until=lambda seen: seen == ["Running"] * 4)


def test_a_gang_of_which_half_was_bound_is_released_after_its_grace(shell: Kubectl, gate: Gate) -> None:
    grace = 'annotations: {kai.scheduler/staleness-grace-period: "1s", '
    shell.apply(job("half", pods=4, gpus=1, minimum=4).replace("annotations: {kai", grace + "kai"))
    eventually(lambda: says(shell), until=lambda text: "gate is shut" in text)
    assert bound(shell) <= gate.allowed
    eventually(lambda: (bound(shell), len(shell.get("pods")["items"])), until=lambda seen: seen == (set(), 4))
