"""How far the rollout of a whole group is, from what its status shows."""

from collections.abc import Iterator

from quorate.api import labels
from quorate.api.rbg import RoleBasedGroup
from quorate.rules.conditions import find, is_true
from quorate.workloads.progress import Progress
from quorate.workloads.rbg.status import CONFIGURED
from quorate.workloads.readiness import READY


def progress_of(found: RoleBasedGroup) -> Progress:
    status, roles = found.status, found.status.role_statuses or []
    configured = find(status.conditions, CONFIGURED)
    if status.observed_generation < found.metadata.generation:
        return Progress("waits for the controller to see the newest spec")
    if configured is not None and configured.status == "False":
        return Progress(configured.message, is_stuck=True)
    replicas, updated = sum(one.replicas for one in roles), sum(one.updated_replicas for one in roles)
    ready = sum(one.ready_replicas for one in roles)
    if updated == replicas and is_true(status.conditions, READY):
        return Progress(f"all {replicas} instances are updated and ready", is_done=True)
    if found.metadata.annotation(labels.PAUSED) == "true":
        return Progress(f"paused with {updated} of {replicas} instances updated", is_stuck=True)
    text = f"{updated} of {replicas} instances updated, {ready} ready"
    return Progress("; ".join([text, *_coordinations(found)]))


def _coordinations(found: RoleBasedGroup) -> Iterator[str]:
    for one in found.status.coordinations or ():
        if one.updating is not None:
            yield f"{one.name} updates segment {one.updating} of {one.wanted}"
        elif one.waits_for:
            yield f"{one.name} waits for {one.waits_for}"
