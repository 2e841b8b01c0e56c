from typing import Any

from quorate.workloads.builtin.fakery import behaviour


def test_pods_that_restart_always_run_for_ever() -> None:
    assert behaviour(_pod("Always"), 0.5).run is None
    assert behaviour(_pod("Never"), 0.5).run == 5.0


def test_an_exit_code_means_that_the_pod_ends() -> None:
    found = behaviour(_pod("Always", {"quorate.dev/fake-exit-code": "3"}), 0.5)
    assert (found.run, found.exit_code) == (5.0, 3)


def test_bad_numbers_are_named_and_replaced() -> None:
    notes = {"quorate.dev/fake-start-seconds": "-1", "quorate.dev/fake-run-seconds": "nan"}
    found = behaviour(_pod("Never", notes), 0.5)
    assert (found.start, found.run) == (0.5, 5.0)
    assert found.complaints == (
        'annotation quorate.dev/fake-run-seconds: "nan" is not a number >= 0; using 5',
        'annotation quorate.dev/fake-start-seconds: "-1" is not a number >= 0; using 0.5',
    )


def _pod(policy: str, notes: dict[str, str] | None = None) -> dict[str, Any]:
    return {"metadata": {"annotations": notes or {}}, "spec": {"restartPolicy": policy}}
