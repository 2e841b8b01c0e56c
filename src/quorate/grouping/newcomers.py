"""A pod as it comes to admission, before it has a uid and often before it has a name: how the grouper will label it.

The same function as ever is asked, about the pod and a twin with another uid and another generated name. Where the
two would be labelled differently, the answer depends on what nobody knows yet, and is left to the grouper.
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
    """The metadata that makes the pod a member, as a merge patch; empty where it has it or nobody can tell yet."""
    if not pod.metadata.owner_references:
        return {}  # with labels it would belong to a PodGroup of its user's
    twins = [_imagined(pod, suffix) for suffix in SUFFIXES]
    changes = [change for gang in group(twins, context).gangs for change in member_changes(gang)]
    wanted: list[Json] = [change.body["metadata"] for change in changes if isinstance(change, Patch)]
    return wanted[0] if len(wanted) == len(twins) and wanted[0] == wanted[1] else {}


def _imagined(pod: Pod, suffix: str) -> Pod:
    """The pod as it may be once it is there."""
    meta = pod.metadata
    name = meta.name or f"{meta.generate_name[:LONGEST_BASE]}{suffix}"
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(meta, name=name, uid=suffix))
