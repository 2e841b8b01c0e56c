"""A pod as it comes to admission, before it has a uid and often before it has a name: how the grouper would label it.

The same function is asked twice: about the pod as it comes, and about the pod as labelled, with another uid and
another generated name. What would still be changed then depends on what nobody knows yet, and is left to the
grouper; so is every pod that it refuses.
"""

import msgspec

from quorate.api.core import Pod
from quorate.api.meta import Json
from quorate.grouping.grouper import group
from quorate.grouping.subject import Context
from quorate.grouping.writes import member_changes
from quorate.plan import Patch

# as the API server completes a `generateName`
LONGEST_BASE = 58
SUFFIXES = ("bbbbb", "zzzzz")


def membership(pod: Pod, context: Context) -> Json:
    """The metadata by which the pod is a member of its gang, as a merge patch; empty where it has it or must wait."""
    first, second = (_imagined(pod, suffix) for suffix in SUFFIXES)
    wanted = _changes(first, context)
    if not wanted or _changes(_labelled(second, wanted), context) != {}:
        return {}
    return wanted


def _changes(pod: Pod, context: Context) -> Json | None:
    """What the grouper would change in the metadata of this pod; None if it would not group it."""
    gangs = [gang for gang in group([pod], context).gangs if gang.members]
    if not gangs:
        return None
    found = [change for gang in gangs for change in member_changes(gang) if isinstance(change, Patch)]
    return found[0].body["metadata"] if found else {}


def _imagined(pod: Pod, suffix: str) -> Pod:
    """The pod as it may be once it is there."""
    meta = pod.metadata
    name = meta.name or f"{meta.generate_name[:LONGEST_BASE]}{suffix}"
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(meta, name=name, uid=suffix))


def _labelled(pod: Pod, wanted: Json) -> Pod:
    meta = pod.metadata
    changed = {
        field: {
            key: value for key, value in {**(getattr(meta, field) or {}), **said}.items() if value is not None
        }
        for field, said in wanted.items()
    }
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(meta, **changed))
