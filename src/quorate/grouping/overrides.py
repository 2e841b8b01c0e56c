"""What is changed in the shape of every kind: minimums by annotation, names that Kubernetes accepts."""

from dataclasses import replace

import msgspec

from quorate.api import labels
from quorate.grouping.names import valid_names
from quorate.grouping.numbers import whole
from quorate.grouping.subject import Shape, Subject


def overridden(shape: Shape, subject: Subject) -> Shape:
    """The shape with the minimums that the owner (else the pod) asks for."""
    member = _asked(labels.MIN_MEMBER, shape, subject)
    children = _asked(labels.MIN_SUB_GROUP, shape, subject)
    if member is not None:
        shape = replace(shape, min_member=member)
    if children is not None and shape.sub_groups:
        shape = replace(shape, min_sub_group=children)
    return shape


def with_valid_names(shape: Shape) -> Shape:
    """The shape with DNS labels for the names of its groups."""
    names = valid_names(group.name for group in shape.sub_groups)
    if all(name == given for name, given in names.items()):
        return shape
    groups = tuple(
        msgspec.structs.replace(group, name=names[group.name], parent=names.get(group.parent or ""))
        for group in shape.sub_groups
    )
    return replace(shape, sub_groups=groups)


def _asked(key: str, shape: Shape, subject: Subject) -> int | None:
    text = shape.source.annotations.get(key) or subject.annotation(key)
    return whole(text, f"annotation {key}") if text else None
