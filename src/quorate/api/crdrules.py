"""The CEL rules of our CustomResourceDefinitions, each at the field whose fault it names.

They say what can be said without looking at other objects; admission says the same with better words, and
more. `self` and the names of fields are OpenAPI's. No rule has a `messageExpression`: over lists of this length the
API server refuses them as too expensive.
"""

from quorate.api.described import rule
from quorate.api.meta import Json

Rules = tuple[tuple[str, Json], ...]  # field path below the root ("" the root itself), rule

POD_GROUP_RULES: Rules = (
    (
        "spec",
        rule(
            "(has(self.subGroups) && size(self.subGroups) > 0) || "
            "!has(self.minMember) || !has(self.minSubGroup)",
            "minMember and minSubGroup are mutually exclusive on a PodGroup without subGroups",
        ),
    ),
    (
        "spec.subGroups",
        rule(
            "self.all(g, !has(g.parent) || g.parent == '' || self.exists(p, p.name == g.parent))",
            "the parent of a subgroup was not found",
        ),
    ),
    (
        "spec.subGroups",
        rule(
            "self.all(g, has(g.minMember) || self.exists(c, has(c.parent) && c.parent == g.name))",
            "minMember is required on a subgroup without children",
        ),
    ),
    (
        "spec.subGroups",
        rule(
            "self.all(g, !has(g.minSubGroup) || self.exists(c, has(c.parent) && c.parent == g.name))",
            "minSubGroup cannot be set on a leaf SubGroup (no child SubGroups)",
        ),
    ),
)

TOPOLOGY_RULES: Rules = (
    (
        "spec.levels",
        rule(
            "self.all(a, self.exists_one(b, b.nodeLabel == a.nodeLabel))",
            "node labels of levels must be unique",
        ),
    ),
    (
        "spec.levels",
        rule(
            "self.all(a, !has(a.alias) || a.alias == '' || "
            "(self.exists_one(b, has(b.alias) && b.alias == a.alias) && "
            "!self.exists(b, b.nodeLabel == a.alias)))",
            "aliases of levels must be unique and differ from the node labels",
        ),
    ),
    (
        "spec.levels",
        rule(
            "self.all(a, a.nodeLabel != 'kubernetes.io/hostname') || "
            "self[size(self) - 1].nodeLabel == 'kubernetes.io/hostname'",
            "kubernetes.io/hostname must be the last level",
        ),
    ),
    ("spec.levels", rule("self == oldSelf", "levels are immutable: make a new Topology")),
)

QUEUE_RULES: Rules = (
    ("spec", rule("has(self.resources)", "resources must be specified")),
    (
        "",
        rule(
            "!has(self.spec) || !has(self.spec.parentQueue) || self.spec.parentQueue != self.metadata.name",
            "a queue cannot be its own parent",
        ),
    ),
)

COMPOSITE_RULES: Rules = (
    (
        "",
        rule(
            "!has(self.spec) || !has(self.spec.parent) || self.spec.parent != self.metadata.name",
            "a CompositePodGroup cannot be its own parent",
        ),
    ),
)

_K = "self.subGroupPolicy.subGroupSize"
_NO_SIZE = f"!has(self.subGroupPolicy) || {_K} < 1"  # which the schema says
_SUB_GROUP_SIZE = ".subGroupPolicy.subGroupSize"

LWS_RULES: Rules = (
    ("spec.leaderWorkerTemplate.size", rule("self >= 1", "size must be equal or greater than 1")),
    (
        "spec",
        rule(
            "self.replicas * self.leaderWorkerTemplate.size <= 2147483647",
            "the product of replicas and worker replicas must not exceed 2147483647",
            field=".replicas",
        ),
    ),
    (
        "spec.leaderWorkerTemplate",
        rule(
            f"{_NO_SIZE} || self.size % {_K} == 0 || (self.size - 1) % {_K} == 0",
            "size or size - 1 must be divisible by subGroupSize",
            field=_SUB_GROUP_SIZE,
        ),
    ),
    (
        "spec.leaderWorkerTemplate",
        rule(
            f"{_NO_SIZE} || {_K} <= self.size",
            "subGroupSize cannot be larger than size",
            field=_SUB_GROUP_SIZE,
        ),
    ),
    (
        "spec.leaderWorkerTemplate",
        rule(
            f"{_NO_SIZE} || self.subGroupPolicy.subGroupPolicyType != 'LeaderExcluded' || "
            f"(self.size - 1) % {_K} == 0",
            "size-1 must be divisible by subGroupSize when using LeaderExcluded",
            field=_SUB_GROUP_SIZE,
        ),
    ),
    (
        "spec.leaderWorkerTemplate",
        rule(
            "!has(self.subGroupPolicy) || has(oldSelf.subGroupPolicy)",
            "cannot enable subGroupSize after the lws is already created",
            field=".subGroupPolicy",
        ),
    ),
    (
        "spec.leaderWorkerTemplate",
        rule(
            "has(self.subGroupPolicy) || !has(oldSelf.subGroupPolicy)",
            "cannot remove subGroupSize after enabled",
            field=".subGroupPolicy",
        ),
    ),
    ("spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize", rule("self == oldSelf", "field is immutable")),
)

ROLE_BASED_GROUP_RULES: Rules = (
    (
        "spec.roles",
        rule(
            "self.all(r, [has(r.template), has(r.standalonePattern), has(r.leaderWorkerPattern), "
            "has(r.customComponentsPattern)].filter(p, p).size() <= 1)",
            "a role has one of template, standalonePattern, leaderWorkerPattern and customComponentsPattern",
        ),
    ),
)
