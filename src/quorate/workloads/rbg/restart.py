"""What a failed pod means for its instance, and for its group.

An instance is a group of a LeaderWorkerSet, which makes it again as a whole, after a delay if it failed before, and
keeps count. Where a failure means the whole group, every pod that is older than the restart goes too.
"""

from collections.abc import Iterator, Mapping, Sequence

from quorate.api.core import POD, Pod
from quorate.api.lws import LeaderWorkerSet
from quorate.plan import Delete, Ref
from quorate.workloads.backoff import Backoff

NONE = "None"
RECREATE_INSTANCE = "RecreateRoleInstanceOnPodRestart"
RECREATE_GROUP = "RecreateRBGOnPodRestart"
BACKOFF = Backoff(30, 600)
OF_SETS = {
    NONE: "None",
    RECREATE_INSTANCE: "RecreateGroupOnPodRestart",
    RECREATE_GROUP: "RecreateGroupOnPodRestart",
}


def effective_type(pattern: str, config_type: str = "", old_type: str = "") -> str:
    """The new field, else the deprecated one, else what suits the pattern."""
    return config_type or old_type or (NONE if pattern == "standalone" else RECREATE_INSTANCE)


def outlived(sets: Mapping[str, LeaderWorkerSet], pods: Mapping[str, Sequence[Pod]]) -> Iterator[Delete]:
    """Pods older than the last restart in one of these sets, which all those of the group follow."""
    last = max((record.last for one in sets.values() for record in one.status.restarts or ()), default="")
    if not last:
        return
    for pod in (pod for found in pods.values() for pod in found):
        meta = pod.metadata
        # both are written in whole seconds of UTC, so texts compare like times
        if meta.creation_timestamp < last and not pod.is_deleting:
            yield Delete(Ref(kind=POD, name=meta.name, namespace=meta.namespace, uid=meta.uid))
