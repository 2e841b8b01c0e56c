"""How far RoleBasedGroups are, as metrics: segments of each coordination, instances of each role.

A group is named with its API group: that there is none of its name in the other one is no news of it.
"""

from collections.abc import Hashable

from prometheus_client import Gauge

from quorate.api.rbg import RoleBasedGroup

SEGMENTS = Gauge(
    "quorate_rbg_segments",
    "Segments of a coordination that are complete, ready and wanted",
    ["namespace", "group", "coordination", "state"],
)
INSTANCES = Gauge(
    "quorate_rbg_instances",
    "Instances of a role that exist, are ready, have the newest revision, and are wanted",
    ["namespace", "group", "role", "state"],
)
_shown: dict[Hashable, set[tuple[Gauge, tuple[str, ...]]]] = {}


def show(key: Hashable, found: RoleBasedGroup) -> None:
    """The status as it was written last."""
    meta, status = found.metadata, found.status
    wanted = {role.name: role.replicas for role in found.spec.roles or ()}
    values: dict[tuple[Gauge, tuple[str, ...]], int] = {}
    for one in status.coordinations or ():
        for state, count in (("complete", one.complete), ("ready", one.ready), ("wanted", one.wanted)):
            values[SEGMENTS, (meta.namespace, meta.name, one.name, state)] = count
    for role in status.role_statuses or ():
        counts = {
            "existing": role.replicas,
            "ready": role.ready_replicas,
            "updated": role.updated_replicas,
            "wanted": wanted.get(role.name, 0),
        }
        for state, count in counts.items():
            values[INSTANCES, (meta.namespace, meta.name, role.name, state)] = count
    before = _shown.get(key, set())
    for gauge, names in before - values.keys():
        gauge.remove(*names)
    for (gauge, names), count in values.items():
        gauge.labels(*names).set(count)
    _shown[key] = set(values)


def forget(key: Hashable) -> None:
    for gauge, names in _shown.pop(key, set()):
        gauge.remove(*names)
