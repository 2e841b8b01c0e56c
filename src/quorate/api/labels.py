"""The labels and annotations that are read or written anywhere in the product.

Keys of other projects are used unchanged, so that their manifests and habits work; keys of ours live under
`quorate.dev/`. How selectors over labels are read stands in `selectors`.
"""

# Membership of a pod in a gang.
POD_GROUP_NAME = "pod-group-name"  # annotation on pods
SUB_GROUP_NAME = "kai.scheduler/subgroup-name"
COMPOSITE_GROUP = "quorate.dev/composite-pod-group"  # label on PodGroups: the gang of gangs they belong to

# What a workload asks for.
QUEUE = "kai.scheduler/queue"
PROJECT = "project"
USER = "user"
NODE_POOL = "kai.scheduler/node-pool"
PRIORITY_CLASS = "priorityClassName"
PREEMPTIBILITY = "kai.scheduler/preemptibility"
TASK_PRIORITY = "kai.scheduler/task-priority"
PREEMPTIBILITY_FROM = (
    "quorate.dev/preemptibility-from"  # on a PodGroup: where the value in its spec was found
)
PREEMPTION_DELAY = "kai.scheduler/preemption-delay"
STALENESS_GRACE_PERIOD = "kai.scheduler/staleness-grace-period"
TOPOLOGY = "kai.scheduler/topology"
TOPOLOGY_REQUIRED = "kai.scheduler/topology-required-placement"
TOPOLOGY_PREFERRED = "kai.scheduler/topology-preferred-placement"
SEGMENT_SIZE = "kai.scheduler/segment-size"
SEGMENT_TOPOLOGY_REQUIRED = "kai.scheduler/segment-topology-required-placement"
SEGMENT_TOPOLOGY_PREFERRED = "kai.scheduler/segment-topology-preferred-placement"
BATCH_MIN_MEMBER = "kai.scheduler/batch-min-member"
SKIP_POD_GROUPER = "kai.scheduler/skip-podgrouper"
TOP_OWNER_METADATA = "kai.scheduler/top-owner-metadata"
MIN_MEMBER = "quorate.dev/min-member"
MIN_SUB_GROUP = "quorate.dev/min-sub-group"
MIN_GROUPS = "quorate.dev/min-groups"
GROUP_AS = "quorate.dev/group-as"
EXPECTED_MEMBERS = "quorate.dev/expected-members"  # on a pod and on its PodGroup: who comes later
HELD_SEATS = "quorate.dev/held-seats"  # on a bound pod: where seats are held for those

# State that the scheduler keeps on a PodGroup.
STALE_SINCE = "kai.scheduler/stale-podgroup-timestamp"
LAST_START = "kai.scheduler/last-start-timestamp"
LAST_EVICTION = "kai.scheduler/last-eviction-timestamp"

# Shares of a GPU.
GPU_RESOURCE = "nvidia.com/gpu"

# LeaderWorkerSet.
LWS_NAME = "leaderworkerset.sigs.k8s.io/name"
LWS_GROUP_INDEX = "leaderworkerset.sigs.k8s.io/group-index"
LWS_WORKER_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"
LWS_GROUP_KEY = "leaderworkerset.sigs.k8s.io/group-key"
LWS_REVISION = "leaderworkerset.sigs.k8s.io/template-revision-hash"
LWS_SUB_GROUP_INDEX = "leaderworkerset.sigs.k8s.io/subgroup-index"
LWS_SUB_GROUP_KEY = "leaderworkerset.sigs.k8s.io/subgroup-key"
LWS_SIZE = "leaderworkerset.sigs.k8s.io/size"
LWS_LEADER_NAME = "leaderworkerset.sigs.k8s.io/leader-name"
LWS_EXCLUSIVE_TOPOLOGY = "leaderworkerset.sigs.k8s.io/exclusive-topology"
LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
LWS_SUB_GROUP_SIZE = "leaderworkerset.sigs.k8s.io/subgroup-size"
LWS_SUB_GROUP_POLICY_TYPE = "leaderworkerset.sigs.k8s.io/subgroup-policy-type"
LWS_SUBDOMAIN_POLICY = "leaderworkerset.sigs.k8s.io/subdomainPolicy"
LWS_LEADER_REQUESTS_TPUS = "leaderworkerset.sigs.k8s.io/leader-requests-tpus"
LWS_RECREATE_AFTER_START = "leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start"
DISRUPTION_BUDGET = "quorate.dev/disruption-budget"
TPU_RESOURCE = "google.com/tpu"
PAUSED = "quorate.dev/paused"  # "true": a rollout stays where it is
SCALE_DOWN = "quorate.dev/scale-down"  # "unready-first": the sickest groups go, not the highest
WANTED_GROUPS = "quorate.dev/groups"  # which groups a set has, where they are not simply the first ones
MAX_GROUP_RESTARTS = "quorate.dev/max-group-restarts"
RESTART_BACKOFF = "quorate.dev/restart-backoff"  # "30/600": seconds of the second restart, and the most

# RoleBasedGroup.
RBG_GROUP_NAME = "rbg.workloads.x-k8s.io/group-name"
RBG_ROLE_NAME = "rbg.workloads.x-k8s.io/role-name"
RBG_COMPONENT_NAME = "rbg.workloads.x-k8s.io/component-name"
RBG_GANG_SCHEDULING = "rbg.workloads.x-k8s.io/group-gang-scheduling"
RBG_ENGINE = "rbg.workloads.x-k8s.io/role-workload-type"  # upstream's choice of what runs a role
RBG_SEGMENT_INDEX = "quorate.dev/segment-index"
SEGMENTS_OF = "quorate.dev/segments-of"  # on a LeaderWorkerSet: beginning of the names of its composites
SEGMENT_INSTANCES = "quorate.dev/segment-instances"  # on a LeaderWorkerSet: its groups in one composite
GANG_OF_ROLES = "quorate.dev/gang-of-roles"  # on a LeaderWorkerSet: JSON of the roles that are one gang

# Kubernetes' own.
HOSTNAME = "kubernetes.io/hostname"
