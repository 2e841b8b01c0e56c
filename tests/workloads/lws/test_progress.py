from quorate.api.lws import (
    LeaderWorkerSet,
    LeaderWorkerSetSpec,
    LeaderWorkerSetStatus,
    RollingUpdateConfiguration,
    RolloutStrategy,
)
from quorate.api.meta import Condition, ObjectMeta
from quorate.workloads.lws.progress import progress_of
from quorate.workloads.progress import Progress


def text_of(updated: int, ready: int, *, partition: int = 0, trouble: str = "", **notes: str) -> Progress:
    rolling = RollingUpdateConfiguration(partition=partition)
    strategy = RolloutStrategy(rolling_update_configuration=rolling)
    degraded = [Condition(type="Degraded", status="True", message=trouble)] if trouble else None
    return progress_of(
        LeaderWorkerSet(
            metadata=ObjectMeta(
                generation=2, annotations={f"quorate.dev/{key}": value for key, value in notes.items()}
            ),
            spec=LeaderWorkerSetSpec(replicas=3, rollout_strategy=strategy),
            status=LeaderWorkerSetStatus(
                replicas=3,
                updated_replicas=updated,
                ready_replicas=ready,
                observed_generation=2,
                current_revision="a",
                update_revision="b",
                conditions=degraded,
            ),
        )
    )


def test_change_that_nobody_saw_yet_is_waited_for() -> None:
    item = LeaderWorkerSet(metadata=ObjectMeta(generation=1))
    assert progress_of(item) == Progress("Waiting for the change to be observed...")


def test_updated_then_ready_groups_are_counted() -> None:
    assert text_of(1, 3).text == "Waiting: 1 of 3 groups are updated"
    assert text_of(3, 2).text == "Waiting: 2 of 3 groups are ready"
    assert text_of(3, 3) == Progress("successfully rolled out", is_done=True)


def test_trouble_is_told_while_waiting() -> None:
    assert text_of(3, 2, trouble="group 1 waits").text == "Waiting: 2 of 3 groups are ready (group 1 waits)"


def test_groups_that_the_partition_keeps_are_not_waited_for() -> None:
    found = text_of(1, 3, partition=2)
    assert found == Progress(
        "successfully rolled out; groups kept at an earlier revision by the partition: 2", is_done=True
    )


def test_pause_ends_the_wait() -> None:
    assert text_of(0, 3, paused="true") == Progress("paused: 0 of 3 groups are updated", is_stuck=True)
