"""Affinity terms that keep a group, or a sub-group, together in one domain and others out of it.

Terms of the user stay and never stand in for ours: both hold. A group is exclusive through its leader alone;
its workers follow by the required domain of their gang.
"""

from quorate.api import labels
from quorate.api.meta import Json
from quorate.workloads.lws.identity import Identity
from quorate.workloads.lws.keys import group_key, sub_group_key

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def with_exclusive(spec: Json, identity: Identity) -> Json:
    """The pod spec with our terms after the user's."""
    group_topology, topology = identity.exclusive_topology, identity.sub_group_exclusive_topology
    if identity.is_leader and group_topology:
        own = group_key(identity.namespace, identity.leader)
        spec = _with_terms(spec, labels.LWS_GROUP_KEY, own, group_topology)
        if topology == group_topology:
            return spec  # whoever shares no domain with another group shares none with its sub-groups
    if topology and identity.sub_group is not None:
        own = sub_group_key(identity.leader, identity.sub_group)
        spec = _with_terms(spec, labels.LWS_SUB_GROUP_KEY, own, topology)
    return spec


def _with_terms(spec: Json, label: str, own: str, topology: str) -> Json:
    """Affinity to pods of the same key, anti-affinity to pods of any other."""
    together: list[Json] = [{"key": label, "operator": "In", "values": [own]}]
    apart: list[Json] = [
        {"key": label, "operator": "Exists"},
        {"key": label, "operator": "NotIn", "values": [own]},
    ]
    affinity = spec.get("affinity") or {}
    return {
        **spec,
        "affinity": {
            **affinity,
            "podAffinity": _appended(affinity.get("podAffinity"), together, topology),
            "podAntiAffinity": _appended(affinity.get("podAntiAffinity"), apart, topology),
        },
    }


def _appended(rules: Json | None, expressions: list[Json], topology: str) -> Json:
    held = (rules or {}).get(_REQUIRED) or []
    term = {"labelSelector": {"matchExpressions": expressions}, "topologyKey": topology}
    return {**(rules or {}), _REQUIRED: [*held, term]}
