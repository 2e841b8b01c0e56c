"""Rewrites PodGroups written for the one-parameter reading of `minMember` (seed 000, option 1) into ours.

There `minMember` of a group with children counts its direct children; here that is `minSubGroup`. A person
asks for the rewriting (`quorate convert`); it is never guessed at run time, since both readings look alike.
"""

from typing import Any

from quorate.api.meta import Json


class NotConvertibleError(ValueError):
    """The object already says what the rewriting would have to guess."""


def from_semantic_min_member(podgroup: Json) -> Json:
    """The same PodGroup with `minSubGroup` where `minMember` counted children; other kinds as they are."""
    if podgroup.get("kind") != "PodGroup" or not _has_groups(podgroup.get("spec") or {}):
        return podgroup
    spec = podgroup["spec"]
    parents = {group.get("parent") for group in spec["subGroups"]}
    groups = [
        _rewritten(group, f"spec.subGroups[{at}]") if group.get("name") in parents else group
        for at, group in enumerate(spec["subGroups"])
    ]
    return {**podgroup, "spec": _rewritten({**spec, "subGroups": groups}, "spec")}


def _has_groups(spec: Any) -> bool:
    groups = (spec.get("subGroups") or []) if isinstance(spec, dict) else spec
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise NotConvertibleError(
            "spec.subGroups must be a list of objects; ask quorate lint what else is wrong"
        )
    return bool(groups)


def _rewritten(group: dict[str, Any], field: str) -> dict[str, Any]:
    if "minMember" not in group:
        return group
    if "minSubGroup" in group:
        raise NotConvertibleError(
            f"{field}: minSubGroup is set beside minMember, so minMember counts pods already; "
            "remove one of the two or leave the file as it is"
        )
    return {("minSubGroup" if name == "minMember" else name): value for name, value in group.items()}
