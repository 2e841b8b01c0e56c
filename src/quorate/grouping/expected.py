"""Pods that others announce: grouped like those that exist, and written on the PodGroup instead of on them."""

from collections.abc import Iterable, Mapping, Sequence

from quorate.api import labels
from quorate.api.core import Pod
from quorate.api.expected import Expected, ExpectedError, ExpectedPod, expected_of, written
from quorate.grouping.owners import Chain

Chained = tuple[Pod, Chain]


def announced(chains: Sequence[Chained]) -> tuple[list[Chained], list[tuple[Pod, str]]]:
    """Pods that do not exist yet, with the owners of who announces them; and which pods say it wrongly how."""
    there = {(pod.metadata.namespace, pod.metadata.name) for pod, _ in chains}
    found: list[Chained] = []
    wrong: list[tuple[Pod, str]] = []
    for pod, chain in chains:
        meta = pod.metadata
        try:
            to_come = [
                each.pod(name, meta.namespace) for each in expected_of(meta.annotations) for name in each.pods
            ]
        except ExpectedError as error:
            wrong.append((pod, str(error)))
            continue
        for one in to_come:
            one.metadata.owner_references = meta.owner_references
            if (meta.namespace, one.metadata.name) not in there:
                found.append((one, chain))
    return found, wrong


def expectation(members: Sequence[tuple[Pod, str]]) -> dict[str, str]:
    """The annotation by which a PodGroup says who is expected in which of its groups."""
    groups = {pod.metadata.name: group for pod, group in members}
    said = [
        part
        for pod, _ in members
        if not isinstance(pod, ExpectedPod)
        for each in _readable(pod)
        for part in _by_group(each, pod.metadata.name, groups)
    ]
    return {labels.EXPECTED_MEMBERS: written(said)} if said else {}


def _readable(pod: Pod) -> list[Expected]:
    try:
        return expected_of(pod.metadata.annotations)
    except ExpectedError:
        return []


def _by_group(each: Expected, announcer: str, groups: Mapping[str, str]) -> Iterable[Expected]:
    parted: dict[str, dict[str, dict[str, str]]] = {}
    for name, own in each.pods.items():
        if name in groups:
            parted.setdefault(groups[name], {})[name] = own
    for group, pods in parted.items():
        named = {labels.SUB_GROUP_NAME: group} if group else {}
        shared = {**(each.labels or {}), **named}
        yield Expected(pods=pods, announcer=announcer, labels=shared, spec=each.spec)
