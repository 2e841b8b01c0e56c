"""What the pods of one revision of a LeaderWorkerSet are made of.

A group is built from the content of its revision, so that a group that comes back in the middle of a rollout
comes back as it was; labels and annotations of the set are those of now.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from quorate.api import labels as keys
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Json

LEADER_EXCLUDED = "LeaderExcluded"
LEADER_READY = "LeaderReady"
UNIQUE_PER_REPLICA = "UniquePerReplica"


@dataclass(frozen=True, slots=True)
class Blueprint:
    """`revision` is the key of the revision that `content` is of; see `revisions`.

    Pods whose template names no scheduler get `scheduler_name`. `waits_for_leader` says that workers are made
    once their leader is ready.
    """

    name: str
    namespace: str
    uid: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    revision: str
    content: Json
    scheduler_name: str = ""
    waits_for_leader: bool = False

    @property
    def template(self) -> Json:
        found: Json = self.content["spec"]["leaderWorkerTemplate"]
        return found

    @property
    def size(self) -> int:
        return int(self.template.get("size", 1))

    @property
    def worker_template(self) -> Json:
        found: Json = self.template["workerTemplate"]
        return found

    @property
    def leader_template(self) -> Json:
        found: Json = self.template.get("leaderTemplate") or self.worker_template
        return found

    @property
    def restart_policy(self) -> str:
        return str(self.template.get("restartPolicy") or "RecreateGroupOnPodRestart")

    @property
    def sub_group_size(self) -> int | None:
        size: int | None = (self.template.get("subGroupPolicy") or {}).get("subGroupSize")
        return size

    @property
    def sub_group_type(self) -> str:
        policy = self.template.get("subGroupPolicy") or {}
        return str(policy.get("subGroupPolicyType") or "LeaderWorker")

    @property
    def is_leader_excluded(self) -> bool:
        return self.sub_group_size is not None and self.sub_group_type == LEADER_EXCLUDED

    @property
    def claim_templates(self) -> list[Json]:
        return list(self.template.get("volumeClaimTemplates") or ())

    @property
    def has_own_subdomains(self) -> bool:
        """Whether each group has a Service of its own."""
        network = self.content["spec"].get("networkConfig") or {}
        return network.get("subdomainPolicy") == UNIQUE_PER_REPLICA

    @property
    def exclusive_topology(self) -> str:
        return self._pinned(keys.LWS_EXCLUSIVE_TOPOLOGY)

    @property
    def sub_group_exclusive_topology(self) -> str:
        return self._pinned(keys.LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY)

    def _pinned(self, key: str) -> str:
        """An annotation as it was when the revision was made."""
        annotations = (self.content.get("metadata") or {}).get("annotations") or {}
        return str(annotations.get(key) or "")

    @property
    def owner_reference(self) -> Json:
        return {
            "apiVersion": LEADER_WORKER_SET.api_version,
            "kind": LEADER_WORKER_SET.kind,
            "name": self.name,
            "uid": self.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }


def blueprint_of(
    item: LeaderWorkerSet, revision: str, content: Json, *, scheduler_name: str = ""
) -> Blueprint:
    meta = item.metadata
    return Blueprint(
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
        labels=meta.labels or {},
        annotations=meta.annotations or {},
        revision=revision,
        content=content,
        scheduler_name=scheduler_name,
        waits_for_leader=item.spec.startup_policy == LEADER_READY,
    )
