"""LeaderWorkerSet, field-compatible with upstream v0.10; `workloads.lws` decides on it.

Pod templates and claims stay JSON trees: they are copied into pods, never interpreted field by field.
"""

from typing import Annotated

import msgspec

from quorate.api.described import described
from quorate.api.meta import Condition, Json, Kind, Object, Part, Wire

LEADER_WORKER_SET = Kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets")

MAX_REPLICAS = 1_000_000

# Set in every container of a group, whatever its template says of them.
LEADER_ADDRESS = "LWS_LEADER_ADDRESS"
GROUP_SIZE = "LWS_GROUP_SIZE"
WORKER_INDEX = "LWS_WORKER_INDEX"


class SubGroupPolicy(Part, frozen=True):
    sub_group_policy_type: Annotated[
        str,
        described(
            "LeaderWorker: the leader is part of the first sub-group. LeaderExcluded: of none.",
            enum=["LeaderWorker", "LeaderExcluded"],
            default="LeaderWorker",
        ),
    ] = "LeaderWorker"
    sub_group_size: Annotated[
        int | None,
        described(
            "Pods of a sub-group; size or size - 1 is a multiple of it.",
            required=True,
            minimum=1,
            format="int32",
        ),
    ] = None


class ClaimRetentionPolicy(Part, frozen=True):
    when_deleted: Annotated[str, described("Claims of a deleted set.", enum=["Retain", "Delete"])] = "Retain"
    when_scaled: Annotated[str, described("Claims of removed groups.", enum=["Retain", "Delete"])] = "Retain"


class LeaderWorkerTemplate(Wire):
    leader_template: Annotated[
        Json | None,
        described("Pod template of leaders; none: the template of workers."),
    ] = None
    worker_template: Annotated[Json, described("Pod template of workers.", required=True)] = msgspec.field(
        default_factory=dict
    )
    size: Annotated[
        int,
        described("Pods of a group, leader included.", format="int32", default=1),
    ] = 1
    restart_policy: Annotated[
        str,
        described(
            "What a restarted or deleted pod means for its group.",
            enum=["Default", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"],
            default="RecreateGroupOnPodRestart",
        ),
    ] = "RecreateGroupOnPodRestart"
    sub_group_policy: Annotated[SubGroupPolicy | None, described("How a group is cut into sub-groups.")] = (
        None
    )
    volume_claim_templates: Annotated[list[Json] | None, described("Claims made for every pod.")] = None
    persistent_volume_claim_retention_policy: ClaimRetentionPolicy | None = None


class RollingUpdateConfiguration(Part, frozen=True):
    max_unavailable: Annotated[
        int | str,
        described("Groups that may be unavailable while rolling; percent rounds down.", default=1),
    ] = 1
    max_surge: Annotated[
        int | str,
        described("Extra groups while rolling; percent rounds up.", default=0),
    ] = 0
    partition: Annotated[
        int,
        described("Groups below this index keep their revision.", format="int32", default=0),
    ] = 0


class RolloutStrategy(Wire):
    type: Annotated[
        str, described("How groups are updated.", enum=["RollingUpdate"], default="RollingUpdate")
    ] = "RollingUpdate"
    rolling_update_configuration: Annotated[
        RollingUpdateConfiguration, described("How fast groups are replaced.", default={})
    ] = RollingUpdateConfiguration()


class NetworkConfig(Part, frozen=True):
    subdomain_policy: Annotated[
        str,
        described(
            "One headless Service for the set, or one for each group.", enum=["Shared", "UniquePerReplica"]
        ),
    ] = "Shared"


class LeaderWorkerSetSpec(Wire):
    replicas: Annotated[
        int,
        described("Groups.", minimum=0, maximum=MAX_REPLICAS, format="int32", default=1),
    ] = 1
    leader_worker_template: Annotated[
        LeaderWorkerTemplate, described("What a group is made of.", required=True)
    ] = msgspec.field(default_factory=LeaderWorkerTemplate)
    rollout_strategy: Annotated[
        RolloutStrategy, described("How a changed template reaches the groups.", default={})
    ] = msgspec.field(default_factory=RolloutStrategy)
    startup_policy: Annotated[
        str,
        described(
            "Whether workers are made with their leader or once it is ready.",
            enum=["LeaderCreated", "LeaderReady"],
            default="LeaderCreated",
        ),
    ] = "LeaderCreated"
    network_config: NetworkConfig | None = None


class GroupRestarts(Part, frozen=True):
    """How often a group was recreated because its pods failed, and when it was last."""

    group: int = -1  # a default that never is, so that 0 is written too
    revision: str = ""
    count: int = 0
    last: str = ""


class LeaderWorkerSetStatus(Wire):
    """Groups beyond `spec.replicas` are not counted; the fields after the conditions are not upstream's."""

    replicas: int = 0
    ready_replicas: int = 0
    updated_replicas: int = 0
    hpa_pod_selector: str = ""
    observed_generation: int = 0
    conditions: list[Condition] | None = None
    current_revision: Annotated[str, described("Revision of groups that a rollout has not reached.")] = ""
    update_revision: Annotated[str, described("Revision of the template as it is now.")] = ""
    restarts: Annotated[list[GroupRestarts] | None, described("Groups that were recreated of late.")] = None
    replacing: Annotated[list[int] | None, described("Groups that a rollout replaces out of turn.")] = None


class LeaderWorkerSet(Object):
    spec: LeaderWorkerSetSpec = msgspec.field(default_factory=LeaderWorkerSetSpec)
    status: LeaderWorkerSetStatus = msgspec.field(default_factory=LeaderWorkerSetStatus)
