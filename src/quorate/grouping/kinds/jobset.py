"""JobSet: a group per replicated job, and below it a group per replica."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from quorate.api import labels
from quorate.api.podgroup import MAX_SUB_GROUPS, SubGroup
from quorate.grouping.errors import MalformedError
from quorate.grouping.numbers import whole, whole_or
from quorate.grouping.objects import dig, texts
from quorate.grouping.subject import Shape, Subject, plain
from quorate.grouping.topology import level_constraint

REPLICATED_JOB = "jobset.sigs.k8s.io/replicatedjob-name"
JOB_INDEX = "jobset.sigs.k8s.io/job-index"


@dataclass(frozen=True, slots=True)
class ReplicatedJob:
    name: str
    replicas: int
    members: int
    annotations: Mapping[str, str]


def jobset(subject: Subject) -> Shape:
    jobs = _replicated_jobs(subject)
    override = _override(subject, len(jobs))
    is_in_order = (
        subject.owner.at("spec", "startupPolicy", "startupPolicyOrder") == "InOrder" and override is None
    )
    taken = frozenset(job.name for job in jobs)
    groups = [
        group
        for place, job in enumerate(jobs)
        for group in _groups(job, taken, is_optional=is_in_order and place > 0)
    ]
    own = _leaf(_label(subject, REPLICATED_JOB), _label(subject, JOB_INDEX), taken)
    if all(group.name != own for group in groups):
        raise MalformedError(
            f"labels {REPLICATED_JOB} and {JOB_INDEX} name {own!r}, which the JobSet does not have"
        )
    return replace(
        plain(subject),
        min_member=None,
        min_sub_group=len(jobs) if override is None else override,
        sub_groups=tuple(groups),
        sub_group=own,
    )


def _replicated_jobs(subject: Subject) -> list[ReplicatedJob]:
    found: Any = subject.owner.at("spec", "replicatedJobs")
    if not isinstance(found, list) or not found:
        raise MalformedError(f"spec.replicatedJobs of {subject.owner} is empty: the JobSet has no pods")
    jobs = [_replicated_job(job, f"spec.replicatedJobs[{place}]") for place, job in enumerate(found)]
    if sum(job.replicas + 1 for job in jobs) > MAX_SUB_GROUPS:
        raise MalformedError(
            f"spec.replicatedJobs of {subject.owner} have more than {MAX_SUB_GROUPS} groups in all"
        )
    return [job for job in jobs if job.replicas]


def _replicated_job(job: Any, field: str) -> ReplicatedJob:
    annotations = texts(dig(job, "template", "metadata", "annotations"))
    spec = dig(job, "template", "spec")
    members = whole_or(dig(spec, "parallelism"), 1, f"{field}.template.spec.parallelism")
    completions = dig(spec, "completions")
    if completions is not None:
        members = min(members, whole(completions, f"{field}.template.spec.completions"))
    asked = annotations.get(labels.BATCH_MIN_MEMBER)
    if asked:
        members = whole(asked, f"{field}: annotation {labels.BATCH_MIN_MEMBER}", least=1)
    replicas = whole_or(dig(job, "replicas"), 1, f"{field}.replicas")
    return ReplicatedJob(str(dig(job, "name") or ""), replicas, members, annotations)


def _override(subject: Subject, jobs: int) -> int | None:
    """How many replicated jobs are needed, where an annotation says so; never more than there are."""
    text = subject.owner.annotations.get(labels.BATCH_MIN_MEMBER)
    return None if text is None else min(jobs, whole(text, f"annotation {labels.BATCH_MIN_MEMBER}", least=1))


def _groups(job: ReplicatedJob, taken: frozenset[str], *, is_optional: bool) -> list[SubGroup]:
    """A later job of an ordered JobSet is optional: it is created only once the earlier ones are ready."""
    parent = SubGroup(name=job.name, min_sub_group=0 if is_optional else job.replicas)
    leaves = [
        SubGroup(
            name=_leaf(job.name, str(index), taken),
            parent=job.name,
            min_member=job.members,
            topology_constraint=level_constraint(job.annotations),
        )
        for index in range(job.replicas)
    ]
    return [parent, *leaves]


def _leaf(job: str, index: str, taken: frozenset[str]) -> str:
    """The group of one replica; a job of that name keeps the name."""
    name = f"{job}-replica-{index}"
    return f"{name}-members" if name in taken else name


def _label(subject: Subject, key: str) -> str:
    value = subject.label(key)
    if not value:
        raise MalformedError(f"label {key} is missing: the pod does not say which replica it belongs to")
    return value
