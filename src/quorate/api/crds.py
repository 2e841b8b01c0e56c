"""The CustomResourceDefinitions of every kind of ours, made from the wire types; `quorate crds` prints them.

Their rules in CEL stand in `crdrules`, so that a cluster without our webhooks is safe too. The API server
refuses rules that may get too expensive: lists and names are bounded for it.
"""

from typing import NamedTuple

import msgspec

from quorate.api.composite import COMPOSITE_POD_GROUP, CompositePodGroup
from quorate.api.crdrules import (
    COMPOSITE_RULES,
    LWS_RULES,
    POD_GROUP_RULES,
    QUEUE_RULES,
    ROLE_BASED_GROUP_RULES,
    TOPOLOGY_RULES,
    Rules,
)
from quorate.api.described import RULES
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Json, Kind
from quorate.api.podgroup import POD_GROUP, POD_GROUP_KINDS, PodGroup
from quorate.api.queue import QUEUE, Queue
from quorate.api.rbg import (
    COORDINATED_POLICY,
    ROLE_BASED_GROUP,
    ROLE_BASED_GROUP_KINDS,
    SCALING_ADAPTER,
    RoleBasedGroup,
)
from quorate.api.rbgpolicy import CoordinatedPolicy, ScalingAdapter
from quorate.api.schemas import UNKNOWN_KEPT, structural
from quorate.api.templates import CLAIM, POD, template_schema
from quorate.api.topology import TOPOLOGY, Topology


class Column(NamedTuple):
    """A column of `kubectl get`; wide ones show with `-o wide` only."""

    name: str
    path: str
    type: str = "string"
    wide: bool = False
    description: str = ""


class Custom(NamedTuple):
    """What a definition says beyond the schema of its type; `templates` are pods and claims by their field."""

    kind: Kind
    type: type[msgspec.Struct]
    short_names: tuple[str, ...]
    columns: tuple[Column, ...]
    rules: Rules = ()
    scale: Json | None = None
    templates: tuple[tuple[str, str], ...] = ()


AGE = Column("Age", ".metadata.creationTimestamp", "date")

CUSTOM: tuple[Custom, ...] = (
    *(
        Custom(
            kind,
            PodGroup,
            ("pg",) if kind is POD_GROUP else (),  # kubectl warns of a short name that two kinds have
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
        QUEUE_RULES,
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
        COMPOSITE_RULES,
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
        LWS_RULES,
        scale={
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.hpaPodSelector",
        },
        templates=(
            ("spec.leaderWorkerTemplate.leaderTemplate", POD),
            ("spec.leaderWorkerTemplate.workerTemplate", POD),
            ("spec.leaderWorkerTemplate.volumeClaimTemplates[]", CLAIM),
        ),
    ),
    *(
        Custom(
            kind,
            RoleBasedGroup,
            ("rbg",) if kind is ROLE_BASED_GROUP else (),
            (
                Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
                Column("Segments", ".status.segmentsReady"),
                AGE,
                Column("Reason", '.status.conditions[?(@.type=="Ready")].reason', wide=True),
            ),
            ROLE_BASED_GROUP_RULES,
            templates=(
                ("spec.roleTemplates[].template", POD),
                ("spec.roles[].template", POD),
                ("spec.roles[].standalonePattern.template", POD),
                ("spec.roles[].leaderWorkerPattern.template", POD),
            ),
        )
        for kind in ROLE_BASED_GROUP_KINDS
    ),
    Custom(
        COORDINATED_POLICY,
        CoordinatedPolicy,
        ("cpolicy",),
        (Column("Bound", '.status.conditions[?(@.type=="Bound")].status'), AGE),
    ),
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
    for path, template in custom.templates:
        node = _field(schema, path)
        node.pop(UNKNOWN_KEPT, None)
        node |= template_schema(template)
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
    """The schema at a path; `[]` stands for the items of a list."""
    for name in filter(None, path.split(".")):
        schema = schema["properties"][name.removesuffix("[]")]
        schema = schema["items"] if name.endswith("[]") else schema
    return schema


def _column(column: Column) -> Json:
    wire: Json = {"name": column.name, "type": column.type, "jsonPath": column.path}
    if column.wide:
        wire["priority"] = 1
    if column.description:
        wire["description"] = column.description
    return wire
