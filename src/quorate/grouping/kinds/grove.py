"""Grove: the PodGang that a pod names says which gang it is; PodCliqueSets add labels and annotations."""

from dataclasses import replace
from typing import Any

from quorate.api import labels
from quorate.api.podgroup import SubGroup, TopologyConstraint
from quorate.grouping.errors import MalformedError, UnresolvedError
from quorate.grouping.numbers import whole
from quorate.grouping.objects import Address, Owner, dig
from quorate.grouping.subject import Shape, Subject, plain

POD_GANG_LABEL = "grove.io/podgang"
TOPOLOGY_NAME = "grove.io/topology-name"
POD_GANG_VERSION = "scheduler.grove.io/v1alpha1"


def pod_gang(subject: Subject) -> Shape:
    gang = _gang(subject)
    parts = _list(gang, "podgroups")
    if not parts:
        raise MalformedError(f"spec.podgroups of {gang} is empty: the gang has no members")
    source = gang.inheriting(subject.owner.labels, subject.owner.annotations)
    topology = source.annotations.get(TOPOLOGY_NAME) or source.annotations.get(labels.TOPOLOGY, "")
    parents, parent_of = _parents(gang, topology)
    leaves = [
        _leaf(part, f"spec.podgroups[{place}]", parent_of, topology) for place, part in enumerate(parts)
    ]
    own = [leaf.name for leaf, part in zip(leaves, parts, strict=True) if _refers(part, subject)]
    return replace(
        plain(subject),
        name=f"pg-{gang.name}-{gang.uid}",
        owner=gang,
        source=source,
        described=gang,
        chain=(source,),
        min_member=sum(leaf.min_member or 0 for leaf in leaves),
        sub_groups=(*parents, *leaves),
        sub_group=own[0] if own else "",
        asked_priority=str(gang.at("spec", "priorityClassName") or ""),
        constraint=_constraint(gang.body.get("spec"), topology),
    )


def _gang(subject: Subject) -> Owner:
    name = subject.label(POD_GANG_LABEL)
    if not name:
        raise MalformedError(
            f"label {POD_GANG_LABEL} is missing: the pod does not say which PodGang it belongs to"
        )
    address = Address(POD_GANG_VERSION, "PodGang", subject.pod.metadata.namespace, name)
    found = subject.context.find(address)
    if found is None:
        raise UnresolvedError(f"{address} does not exist yet")
    return found


def _list(gang: Owner, field: str) -> list[Any]:
    value = gang.at("spec", field)
    if value is not None and not isinstance(value, list):
        raise MalformedError(f"spec.{field} of {gang} is not a list")
    return value or []


def _parents(gang: Owner, topology: str) -> tuple[list[SubGroup], dict[str, str]]:
    """A group over each set of parts that share a topology constraint, and the parent of each part."""
    parents: list[SubGroup] = []
    parent_of: dict[str, str] = {}
    for place, config in enumerate(_list(gang, "topologyConstraintGroupConfigs")):
        field = f"spec.topologyConstraintGroupConfigs[{place}]"
        parts = dig(config, "podGroupNames") or []
        if not isinstance(parts, list):
            raise MalformedError(f"{field}.podGroupNames of {gang} is not a list")
        if not parts:
            continue
        name = _text(config, "name", field)
        constraint = _constraint(config, topology)
        parents.append(SubGroup(name=name, min_sub_group=len(parts), topology_constraint=constraint))
        parent_of.update({str(part): name for part in parts})
    return parents, parent_of


def _leaf(part: Any, field: str, parent_of: dict[str, str], topology: str) -> SubGroup:
    name = _text(part, "name", field)
    references = dig(part, "podReferences")
    if not isinstance(references, list):
        raise MalformedError(f"{field}.podReferences is missing: the group lists no pods")
    for place, reference in enumerate(references):
        for key in ("namespace", "name"):
            _text(reference, key, f"{field}.podReferences[{place}]")
    return SubGroup(
        name=name,
        parent=parent_of.get(name),
        min_member=whole(dig(part, "minReplicas"), f"{field}.minReplicas", least=1),
        topology_constraint=_constraint(part, topology),
    )


def _refers(part: Any, subject: Subject) -> bool:
    meta = subject.pod.metadata
    for reference in part["podReferences"]:
        if reference["namespace"] != meta.namespace:
            namespace = reference["namespace"]
            raise MalformedError(f"podReferences of {part['name']} lead into namespace {namespace}")
        if reference["name"] == meta.name:
            return True
    return False


def _constraint(spec: Any, topology: str) -> TopologyConstraint | None:
    pack = dig(spec, "topologyConstraint", "packConstraint") or {}
    required, preferred = str(dig(pack, "required") or ""), str(dig(pack, "preferred") or "")
    if not required and not preferred:
        return None
    if not topology:
        raise MalformedError(f"annotation {TOPOLOGY_NAME} is missing: levels are named, but of no Topology")
    return TopologyConstraint(
        topology=topology, required_topology_level=required, preferred_topology_level=preferred
    )


def _text(tree: Any, key: str, field: str) -> str:
    value = dig(tree, key)
    if not isinstance(value, str) or not value:
        raise MalformedError(f"{field}.{key} is missing")
    return value
