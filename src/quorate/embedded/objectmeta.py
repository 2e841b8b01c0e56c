"""The part of an object's metadata that the server owns: names, UIDs, times, generations.

`creation.py` fills it in and `updating.py` carries it over, whatever the client sent.
"""

import random
import uuid
from datetime import UTC, datetime
from functools import lru_cache

from quorate.api.meta import Json

# Letters and digits that make no words and are not mistaken for each other.
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_LONGEST_BASE = 63 - _SUFFIX_LENGTH

# Kinds whose generation counts changes of what is asked for; custom kinds always do.
_WITH_GENERATION = frozenset(
    {
        ("", "pods"),
        ("", "podtemplates"),
        ("", "replicationcontrollers"),
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        ("apps", "daemonsets"),
        ("apps", "deployments"),
        ("apps", "replicasets"),
        ("apps", "statefulsets"),
        ("batch", "cronjobs"),
        ("batch", "jobs"),
        ("discovery.k8s.io", "endpointslices"),
        ("networking.k8s.io", "ingresses"),
        ("networking.k8s.io", "networkpolicies"),
        ("policy", "poddisruptionbudgets"),
        ("scheduling.k8s.io", "podgroups"),
        ("scheduling.k8s.io", "priorityclasses"),
    }
)
# What a client cannot change by an update.
_FIXED = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")


def has_generation(group: str, plural: str, *, custom: bool) -> bool:
    return custom or (group, plural) in _WITH_GENERATION


def timestamp(seconds: float) -> str:
    """RFC 3339 in whole seconds, as metav1.Time."""
    return _whole_seconds(int(seconds))


@lru_cache(maxsize=64)
def _whole_seconds(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_uid() -> str:
    return str(uuid.uuid4())


def generated_name(base: str) -> str:
    # Not a secret: a collision is answered by another try.
    suffix = "".join(random.choices(_SUFFIX_LETTERS, k=_SUFFIX_LENGTH))  # noqa: S311 see above
    return base[:_LONGEST_BASE] + suffix


def carried_over(new: Json, old: Json) -> Json:
    """The metadata of an update with the server's own fields as they are stored."""
    kept = {name: value for name, value in new.items() if name not in _FIXED and name != "selfLink"}
    kept |= {name: old[name] for name in _FIXED if name in old}
    for name in ("name", "namespace", "generateName"):
        if name in old:
            kept[name] = old[name]
    return kept
