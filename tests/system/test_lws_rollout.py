"""`quorate rollout` on LeaderWorkerSets, as a user types it."""

from collections.abc import Callable

import pytest

from tests.fakes.command import Ended, runner
from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl
from tests.system.lws import available, images, status, web, with_image

Rollout = Callable[..., Ended]


@pytest.fixture
def rollout(shell: Kubectl, capsys: pytest.CaptureFixture[str]) -> Rollout:
    """The subcommand and its options; the set is always the same."""
    quorate = runner(capsys)

    def run(subcommand: str, *options: str) -> Ended:
        where = ("-n", shell.namespace, "--kubeconfig", str(shell.kubeconfig))
        return quorate("rollout", subcommand, "lws/web", *where, *options)

    return run


def test_a_rollout_is_followed_looked_back_on_and_undone(shell: Kubectl, rollout: Rollout) -> None:
    shell.apply(web(replicas=2))
    followed = rollout("status", "--timeout", "30")
    assert (followed.status, followed.out.splitlines()[-1]) == (
        0,
        "LeaderWorkerSet web: successfully rolled out",
    )
    with_image(shell, "example/app:2")
    assert rollout("status", "--timeout", "30").status == 0
    seen = rollout("history").out.splitlines()
    assert seen[1].split() == ["REVISION", "CHANGES"]
    assert seen[2].startswith("1 ")
    assert seen[3].startswith("2 ")
    assert "containers[0].image: example/app:1 -> example/app:2" in seen[3]
    assert "image: example/app:1" in rollout("history", "--revision", "1").out
    assert rollout("undo").out == "LeaderWorkerSet web rolls back to revision 1\n"
    available(shell)
    assert images(shell) == {"example/app:1"}
    refused = rollout("undo", "--to-revision", "9")
    assert (refused.status, refused.line) == (
        1,
        "quorate: LeaderWorkerSet web has no revision 9; there are 2, 3",
    )


def test_a_paused_rollout_waits_until_it_is_resumed(shell: Kubectl, rollout: Rollout) -> None:
    shell.apply(web(replicas=2))
    available(shell)
    assert rollout("pause").status == 0
    assert rollout("pause").line == "quorate: LeaderWorkerSet web is paused already"
    with_image(shell, "example/app:2")
    shell("scale", "lws/web", "--replicas=3")
    eventually(lambda: status(shell).get("readyReplicas"), until=lambda seen: seen == 3)
    assert images(shell) == {"example/app:1"}
    assert rollout("undo").line == "quorate: LeaderWorkerSet web is paused; resume it first"
    held = rollout("status")
    assert (held.status, held.out) == (1, "LeaderWorkerSet web: paused: 0 of 3 groups are updated\n")
    assert rollout("resume").status == 0
    available(shell)
    assert images(shell) == {"example/app:2"}


def test_what_cannot_roll_out_is_named(shell: Kubectl, capsys: pytest.CaptureFixture[str]) -> None:
    quorate = runner(capsys)
    wrong = quorate("rollout", "status", "deployment/web")
    assert wrong.status == 2
    assert wrong.line.startswith('quorate: "deployment/web" names nothing that rolls out; write lws/NAME')
    missing = quorate("rollout", "status", "lws/none", "--kubeconfig", str(shell.kubeconfig))
    assert missing.status == 1
    assert '"none" not found' in missing.line
