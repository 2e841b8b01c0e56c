"""Annotations that set the minimums of every kind of workload."""

from dataclasses import replace

from quorate.api import labels
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


def _asked(key: str, shape: Shape, subject: Subject) -> int | None:
    text = shape.source.annotations.get(key) or subject.annotation(key)
    return whole(text, f"annotation {key}") if text else None
