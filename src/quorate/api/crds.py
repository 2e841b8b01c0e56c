"""The CustomResourceDefinitions of every kind of ours, made from the wire types; `quorate crds` prints them.

Rules in CEL say what can be said without looking at other objects, so that a cluster without our webhooks is
safe too. The API server refuses rules that may get too expensive: lists and names are bounded for it.
"""

from typing import NamedTuple

import msgspec

from quorate.api.composite import COMPOSITE_POD_GROUP, CompositePodGroup
from quorate.api.described import RULES, rule
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Json, Kind
from quorate.api.podgroup import POD_GROUP_KINDS, PodGroup
from quorate.api.queue import QUEUE, Queue
from quorate.api.rbg import (
    COORDINATED_POLICY,
    ROLE_BASED_GROUP_KINDS,
    SCALING_ADAPTER,
    RoleBasedGroup,
)
from quorate.api.rbgpolicy import CoordinatedPolicy, ScalingAdapter
from quorate.api.schemas import structural
from quorate.api.topology import TOPOLOGY, Topology


class Column(NamedTuple):
    """A column of `kubectl get`; wide ones show with `-o wide` only."""

    name: str
    path: str
    type: str = "string"
    wide: bool = False
    description: str = ""


class Custom(NamedTuple):
    """What a definition says beyond the schema of its type."""

    kind: Kind
    type: type[msgspec.Struct]
    short_names: tuple[str, ...]
    columns: tuple[Column, ...]
    rules: tuple[tuple[str, Json], ...] = ()  # field path below the root, rule
    scale: Json | None = None


AGE = Column("Age", ".metadata.creationTimestamp", "date")

_HAS_GROUPS = "(has(self.subGroups) && size(self.subGroups) > 0)"

POD_GROUP_RULES = (
    (
        "spec",
        rule(
            f"{_HAS_GROUPS} || !has(self.minMember) || !has(self.minSubGroup)",
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

TOPOLOGY_RULES = (
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

ROLE_PATTERN_RULES = (
    (
        "spec.roles",
        rule(
            "self.all(r, [has(r.template), has(r.standalonePattern), has(r.leaderWorkerPattern), "
            "has(r.customComponentsPattern)].filter(p, p).size() <= 1)",
            "a role has one of template, standalonePattern, leaderWorkerPattern and customComponentsPattern",
        ),
    ),
    (
        "spec",
        rule(
            "!has(self.coordinationRequirements) || self.coordinationRequirements.all(c, "
            "!has(c.strategy) || !has(c.strategy.segmentPlacement) || "
            "!has(c.strategy.segmentPlacement.segmentSize) || "
            "c.strategy.segmentPlacement.segmentSize.all(r, "
            "c.strategy.segmentPlacement.segmentSize[r] >= 1))",
            "segment sizes must be at least 1",
        ),
    ),
)

CUSTOM: tuple[Custom, ...] = (
    *(
        Custom(
            kind,
            PodGroup,
            ("pg",),
            (
                Column("Groups", ".status.satisfiedGroups"),
                Column("Pods", ".status.activeMembers"),
                Column("Phase", ".status.phase"),
                Column("Queue", ".spec.queue"),
                AGE,
                Column("Preemptibility", ".status.preemptibility.value", wide=True),
                Column("Reason", ".status.reason", wide=True),
            ),
            POD_GROUP_RULES,
        )
        for kind in POD_GROUP_KINDS
    ),
    Custom(
        QUEUE,
        Queue,
        (),
        (
            Column("Parent", ".spec.parentQueue"),
            Column("Priority", ".spec.priority", "integer"),
            Column("GPU Quota", ".spec.resources.gpu.quota", "number"),
            Column("GPU Limit", ".spec.resources.gpu.limit", "number"),
            Column("GPU Allocated", ".status.allocated.nvidia\\.com/gpu"),
            AGE,
            Column("Children", ".status.childQueues", wide=True),
        ),
    ),
    Custom(TOPOLOGY, Topology, (), (Column("Levels", ".spec.levels[*].nodeLabel"), AGE), TOPOLOGY_RULES),
    Custom(
        COMPOSITE_POD_GROUP,
        CompositePodGroup,
        ("cpg",),
        (
            Column("Satisfied", ".status.satisfiedGroups", "integer"),
            Column("Groups", ".status.groups", "integer"),
            Column("Minimum", ".spec.minGroupCount", "integer"),
            Column("Parent", ".spec.parent", wide=True),
            AGE,
        ),
    ),
    Custom(
        LEADER_WORKER_SET,
        LeaderWorkerSet,
        ("lws",),
        (
            Column("Ready", ".status.readyReplicas", "integer"),
            Column("Desired", ".spec.replicas", "integer"),
            Column("Up-to-date", ".status.updatedReplicas", "integer"),
            AGE,
        ),
        scale={
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.hpaPodSelector",
        },
    ),
    *(
        Custom(
            kind,
            RoleBasedGroup,
            ("rbg",),
            (
                Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
                AGE,
                Column("Reason", '.status.conditions[?(@.type=="Ready")].reason', wide=True),
            ),
            ROLE_PATTERN_RULES,
        )
        for kind in ROLE_BASED_GROUP_KINDS
    ),
    Custom(COORDINATED_POLICY, CoordinatedPolicy, ("cpolicy",), (AGE,)),
    Custom(
        SCALING_ADAPTER,
        ScalingAdapter,
        ("rbgsa",),
        (Column("Phase", ".status.phase"), Column("Replicas", ".status.replicas", "integer"), AGE),
        scale={
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    ),
)


def crds() -> list[Json]:
    return [_definition(custom) for custom in CUSTOM]


def _definition(custom: Custom) -> Json:
    kind = custom.kind
    names: Json = {
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "singular": kind.kind.lower(),
    }
    if custom.short_names:
        names["shortNames"] = list(custom.short_names)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.resource, "labels": {"app.kubernetes.io/part-of": "quorate"}},
        "spec": {
            "group": kind.group,
            "names": names,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [_version(custom)],
        },
    }


def _version(custom: Custom) -> Json:
    schema = structural(custom.type)
    schema["description"] = (custom.type.__doc__ or custom.kind.kind).split("\n", 1)[0]
    for path, each in custom.rules:
        _field(schema, path).setdefault(RULES, []).append(dict(each))
    subresources: Json = {"status": {}} if "status" in schema["properties"] else {}
    if custom.scale:
        subresources["scale"] = dict(custom.scale)
    return {
        "name": custom.kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": subresources,
        "additionalPrinterColumns": [_column(column) for column in custom.columns],
    }


def _field(schema: Json, path: str) -> Json:
    for name in path.split("."):
        schema = schema["properties"][name]
    return schema


def _column(column: Column) -> Json:
    wire: Json = {"name": column.name, "type": column.type, "jsonPath": column.path}
    if column.wide:
        wire["priority"] = 1
    if column.description:
        wire["description"] = column.description
    return wire
