"""A pod as it comes to admission, before it has a uid and often before it has a name: how the grouper will label it.

The same function as ever is asked, about the pod and a twin with another uid and another generated name. Where the
two would be labelled differently, the answer depends on what nobody knows yet, and is left to the grouper. So is a
pod that comes while its PodGroup has other minimums than its owner asks for: it must not join before these hold.
"""

from collections.abc import Callable

import msgspec

from quorate.api.core import Pod
from quorate.api.meta import Json
from quorate.api.podgroup import PodGroup
from quorate.grouping.grouper import Gang, group
from quorate.grouping.subject import Context
from quorate.grouping.writes import member_changes
from quorate.plan import Patch

# as the API server completes a `generateName`
LONGEST_BASE = 58
SUFFIXES = ("bbbbb", "zzzzz")
MINIMUMS = ("minMember", "minSubGroup", "subGroups")
Find = Callable[[str, str], PodGroup | None]


def membership(pod: Pod, context: Context, find: Find) -> Json:
    """The metadata that makes the pod a member, as a merge patch; empty where it has it or nobody can tell yet.

    `find` knows the PodGroups that exist, by namespace and name.
    """
    if not pod.metadata.owner_references:
        return {}  # with labels it would belong to a PodGroup of its user's
    twins = [_imagined(pod, suffix) for suffix in SUFFIXES]
    gangs = [
        gang for gang in group(twins, context).gangs if _is_current(gang, find(gang.namespace, gang.name))
    ]
    changes = [change for gang in gangs for change in member_changes(gang)]
    wanted: list[Json] = [change.body["metadata"] for change in changes if isinstance(change, Patch)]
    return wanted[0] if len(wanted) == len(twins) and wanted[0] == wanted[1] else {}


def _is_current(gang: Gang, found: PodGroup | None) -> bool:
    if found is None:
        return True
    wanted, has = gang.body["spec"], msgspec.to_builtins(found.spec)
    return all(wanted.get(field) == has.get(field) for field in MINIMUMS)


def _imagined(pod: Pod, suffix: str) -> Pod:
    """The pod as it may be once it is there."""
    meta = pod.metadata
    name = meta.name or f"{meta.generate_name[:LONGEST_BASE]}{suffix}"
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(meta, name=name, uid=suffix))
