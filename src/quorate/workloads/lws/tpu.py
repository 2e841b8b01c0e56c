"""The environment by which TPU processes of a group, or of a sub-group, find each other.

Processes that work together are those of one slice: without sub-groups the pods of the group that have TPUs,
else as many pods in a row as a sub-group has, counted from the leader if it has TPUs, from the first worker if
not. In every shape that admission accepts (`admission.tpu`) a slice with sub-groups is a sub-group. A process
is named in its slice as often as its pod has TPU containers, and its id is its place there.
"""

from collections.abc import Iterator
from typing import NamedTuple

from quorate.api.labels import TPU_RESOURCE
from quorate.api.meta import Json
from quorate.workloads.lws.environment import once, value_of
from quorate.workloads.lws.identity import Identity

WORKER_HOSTNAMES = "TPU_WORKER_HOSTNAMES"
WORKER_ID = "TPU_WORKER_ID"
NAME = "TPU_NAME"
PROCESS_ADDRESSES = "TPU_PROCESS_ADDRESSES"
PROCESS_PORT = "TPU_PROCESS_PORT"
FIRST_PORT = 8476


class Processes(NamedTuple):
    """How many TPU containers a leader and a worker have."""

    leader: int
    worker: int

    def of(self, index: int) -> int:
        return self.worker if index else self.leader


def asking(spec: Json) -> list[Json]:
    """The containers that ask for TPUs, then the init containers that do."""
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    return [container for container in containers if _asks(container)]


def _asks(container: Json) -> bool:
    resources = container.get("resources") or {}
    for part in ("limits", "requests"):
        amount = (resources.get(part) or {}).get(TPU_RESOURCE)
        if amount is not None:
            return str(amount) != "0"
    return False


def with_tpus(spec: Json, identity: Identity, processes: Processes) -> Json:
    """The pod spec with its TPU containers told about each other; as it is if the user told them himself."""
    served = asking(spec)
    if not served or value_of(served[0], WORKER_HOSTNAMES) or value_of(served[0], WORKER_ID):
        return spec
    ports = [value_of(container, PROCESS_PORT) or str(FIRST_PORT + at) for at, container in enumerate(served)]
    seats = list(_seats(identity, processes))
    hosts = ",".join(identity.host(index) for index, _ in seats)
    addresses = ",".join(f"{identity.host(index)}:{ports[at % len(ports)]}" for index, at in seats)
    first_id = seats.index((identity.place.index, 0))
    extended = {
        id(container): _extended(
            container,
            {
                WORKER_HOSTNAMES: hosts,
                WORKER_ID: str(first_id + at),
                NAME: identity.leader,
                PROCESS_ADDRESSES: addresses,
                PROCESS_PORT: ports[at],
            },
        )
        for at, container in enumerate(served)
    }
    parts = ("containers", "initContainers")
    return {
        **spec,
        **{part: [extended.get(id(each), each) for each in spec[part]] for part in parts if spec.get(part)},
    }


def _seats(identity: Identity, processes: Processes) -> Iterator[tuple[int, int]]:
    """Index of the pod and of its TPU container, for every TPU process of this pod's slice."""
    first = 0 if processes.leader else 1
    length = identity.sub_group_size or identity.size
    begin = identity.place.index - (identity.place.index - first) % length
    for index in range(begin, min(begin + length, identity.size)):
        for at in range(processes.of(index)):
            yield index, at


def _extended(container: Json, variables: dict[str, str]) -> Json:
    own = container.get("env") or ()
    added = ({"name": name, "value": value} for name, value in variables.items())
    return {**container, "env": once((*own, *added))}
