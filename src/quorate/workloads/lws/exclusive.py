"""Affinity terms that keep a group, or a sub-group, together in one domain and others out of it.

Terms of the user stay and never stand in for ours: both hold. A group that is exclusive in a domain is so
through its leader, beside which the scheduler places its workers.
"""

from quorate.api import labels
from quorate.api.meta import Json

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def exclusive_terms(label: str, own: str, topology: str) -> tuple[Json, Json]:
    """Affinity to pods of the same key, anti-affinity to pods of any other."""
    together: list[Json] = [{"key": label, "operator": "In", "values": [own]}]
    apart: list[Json] = [
        {"key": label, "operator": "Exists"},
        {"key": label, "operator": "NotIn", "values": [own]},
    ]
    return _term(together, topology), _term(apart, topology)


def _term(expressions: list[Json], topology: str) -> Json:
    return {"labelSelector": {"matchExpressions": expressions}, "topologyKey": topology}


def with_exclusive(spec: Json, label: str, own: str, topology: str) -> Json:
    """The pod spec with our terms after the user's."""
    together, apart = exclusive_terms(label, own, topology)
    affinity = spec.get("affinity") or {}
    return {
        **spec,
        "affinity": {
            **affinity,
            "podAffinity": _appended(affinity.get("podAffinity"), together),
            "podAntiAffinity": _appended(affinity.get("podAntiAffinity"), apart),
        },
    }


def _appended(rules: Json | None, term: Json) -> Json:
    held = (rules or {}).get(_REQUIRED) or []
    return {**(rules or {}), _REQUIRED: held if term in held else [*held, term]}


def with_group_exclusive(spec: Json, key: str, topology: str) -> Json:
    return with_exclusive(spec, labels.LWS_GROUP_KEY, key, topology) if topology else spec


def with_sub_group_exclusive(spec: Json, key: str, topology: str) -> Json:
    return with_exclusive(spec, labels.LWS_SUB_GROUP_KEY, key, topology) if topology else spec
