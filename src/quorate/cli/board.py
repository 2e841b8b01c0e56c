"""What `quorate demo` shows: the gangs of a cluster as a table while they start, and in the end what happened."""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass

from rich.table import Table

from quorate.api.core import POD, Pod
from quorate.api.labels import POD_GROUP_NAME
from quorate.api.meta import Condition
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.controllers.app import background
from quorate.kube.caches import Caches
from quorate.kube.client import Client
from quorate.kube.resources import Scope

WAITING = ("Pending", "Starting", "")
_COLOURS = {"Running": "green", "Succeeded": "blue", "Pending": "yellow", "Starting": "cyan"}


@dataclass(frozen=True)
class Seen:
    """The cluster as the watch shows it; each can be gone through again and again."""

    podgroups: Iterable[PodGroup]
    pods: Iterable[Pod]

    def fingerprint(self) -> object:
        """Changes whenever a gang or a pod gets further."""
        gangs = sorted(
            (gang.metadata.key, gang.status.phase, gang.status.active_members) for gang in self.podgroups
        )
        pods = Counter((pod.status.phase, bool(pod.spec.node_name)) for pod in self.pods)
        return gangs, sorted(pods.items())


@contextlib.asynccontextmanager
async def following(client: Client) -> AsyncIterator[Seen]:
    caches = Caches(client)
    seen = Seen(
        caches.of(Scope(kind=POD_GROUP), PodGroup),
        caches.of(Scope(kind=POD), Pod),
    )
    async with background(caches.run()):
        await caches.synced()
        yield seen


def table(seen: Seen) -> Table:
    shown = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("GANG", "QUEUE", "GROUPS", "PODS", "PHASE"):
        shown.add_column(column, no_wrap=True)
    shown.add_column("WHY", overflow="fold")
    for gang in sorted(seen.podgroups, key=lambda gang: gang.metadata.key):
        status = gang.status
        colour = _COLOURS.get(status.phase, "red")
        shown.add_row(
            _name(gang),
            gang.spec.queue,
            status.satisfied_groups,
            status.active_members,
            f"[{colour}]{status.phase}[/]",
            _why(gang),
        )
    return shown


def summary(seen: Seen, requests: Mapping[tuple[str, str], int]) -> str:
    """Counts, and for each gang that waits the reason that its status gives."""
    gangs = sorted(seen.podgroups, key=lambda gang: gang.metadata.key)
    phases = Counter(gang.status.phase for gang in gangs)
    bound = sum(1 for pod in seen.pods if pod.spec.node_name)
    binds = requests.get(("create", "pods/binding"), 0)
    parts = started_in_part(seen)
    lines = [
        f"{len(gangs)} gangs: " + ", ".join(f"{count} {phase}" for phase, count in sorted(phases.items())),
        f"{bound} of {len(list(seen.pods))} pods have a node, by {binds} bindings; "
        + (f"in part only: {', '.join(parts)}" if parts else "no gang has started in part"),
        *(f"{_name(gang)} waits: {_why(gang)}" for gang in gangs if gang.status.phase in WAITING),
    ]
    return "\n".join(lines)


def started_in_part(seen: Seen) -> list[str]:
    """Gangs that wait although pods of theirs hold a node, which must not be once everything has settled."""
    holding = {
        f"{pod.metadata.namespace}/{pod.metadata.annotation(POD_GROUP_NAME)}"
        for pod in seen.pods
        if pod.spec.node_name and not pod.is_finished
    }
    waiting = (gang for gang in seen.podgroups if gang.status.phase in WAITING)
    return sorted(_name(gang) for gang in waiting if gang.metadata.key in holding)


def _name(gang: PodGroup) -> str:
    """Names that the grouper made hold the owner's UID, which nobody reads."""
    name = gang.metadata.name
    owner = next(iter(gang.metadata.owner_references or ()), None)
    made = f"pg-{owner.name}-{owner.uid}" if owner is not None else ""
    if owner is None or not name.startswith(made):
        return name
    return f"{owner.name}{name.removeprefix(made).replace('-', ' ', 1)}"


def _why(gang: PodGroup) -> str:
    condition = _unschedulable(gang)
    return (condition.message if condition else gang.status.reason).strip()


def _unschedulable(gang: PodGroup) -> Condition | None:
    return next(
        (
            condition
            for condition in gang.status.conditions or ()
            if condition.type == "Unschedulable" and condition.status == "True"
        ),
        None,
    )
