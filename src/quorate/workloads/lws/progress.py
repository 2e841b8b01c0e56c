"""How far the rollout of a set is, from its status alone."""

from quorate.api import labels
from quorate.api.lws import LeaderWorkerSet
from quorate.rules.conditions import find, is_true
from quorate.workloads.lws.conditions import DEGRADED
from quorate.workloads.progress import Progress


def progress_of(item: LeaderWorkerSet) -> Progress:
    status, wanted = item.status, item.spec.replicas
    if status.observed_generation < item.metadata.generation:
        return Progress("Waiting for the change to be observed...")
    held = min(wanted, item.spec.rollout_strategy.rolling_update_configuration.partition)
    due = wanted - held if status.current_revision != status.update_revision else wanted
    if status.updated_replicas < due:
        if item.metadata.annotation(labels.PAUSED) == "true":
            return Progress(f"paused: {status.updated_replicas} of {due} groups are updated", is_stuck=True)
        return Progress(f"Waiting: {status.updated_replicas} of {due} groups are updated{_trouble(item)}")
    if status.ready_replicas < wanted or status.replicas < wanted:
        return Progress(f"Waiting: {status.ready_replicas} of {wanted} groups are ready{_trouble(item)}")
    kept = f"; groups kept at an earlier revision by the partition: {held}" if due < wanted else ""
    return Progress(f"successfully rolled out{kept}", is_done=True)


def _trouble(item: LeaderWorkerSet) -> str:
    found = find(item.status.conditions, DEGRADED)
    return f" ({found.message})" if found and is_true(item.status.conditions, DEGRADED) else ""
