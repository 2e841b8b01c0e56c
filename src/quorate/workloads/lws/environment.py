"""The environment that every container of a group has: where its leader is, how many they are, which it is."""

from collections.abc import Callable, Iterable

from quorate.api.lws import GROUP_SIZE, LEADER_ADDRESS, WORKER_INDEX
from quorate.api.meta import Json
from quorate.workloads.lws.identity import Identity


def group_variables(identity: Identity) -> list[Json]:
    return [
        {"name": LEADER_ADDRESS, "value": f"{identity.host(0)}.{identity.namespace}"},
        {"name": GROUP_SIZE, "value": str(identity.size)},
        {"name": WORKER_INDEX, "value": str(identity.place.index)},
    ]


def with_environment(spec: Json, identity: Identity) -> Json:
    """The pod spec with the group's variables first in every container, so that others can refer to them."""
    first = group_variables(identity)

    def completed(container: Json) -> Json:
        return {**container, "env": once((*first, *(container.get("env") or ())))}

    return in_containers(spec, completed)


def in_containers(spec: Json, change: Callable[[Json], Json]) -> Json:
    """The spec with every container, init containers too, as the change makes it."""
    parts = ("containers", "initContainers")
    return {**spec, **{part: [change(each) for each in spec[part]] for part in parts if spec.get(part)}}


def once(variables: Iterable[Json]) -> list[Json]:
    """Each name once; the first value wins."""
    named: dict[str, Json] = {}
    for variable in variables:
        named.setdefault(variable["name"], variable)
    return list(named.values())


def value_of(container: Json, name: str) -> str:
    """What a variable is set to; nothing if it is not set, or not to a plain text."""
    found = (variable for variable in container.get("env") or () if variable["name"] == name)
    return next((str(variable.get("value") or "") for variable in found), "")
