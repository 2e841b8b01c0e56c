"""Refusals of a request's options, which the real server words as refusals of an options object."""

from typing import NamedTuple

from quorate.embedded.causes import Cause
from quorate.embedded.errors import ApiError, invalid


class _OptionsKind(NamedTuple):
    kind: str
    group: str = "meta.k8s.io"
    plural: str = ""


def refused(kind: str, *found: Cause) -> ApiError:
    """422 for the options of a kind of request: CreateOptions, DeleteOptions, ListOptions, PatchOptions, ..."""
    return invalid(_OptionsKind(kind), "", found)
