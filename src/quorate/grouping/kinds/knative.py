"""Knative: the pods of one Revision are one gang, as large as its minimum scale."""

from dataclasses import replace

from quorate.grouping.errors import MalformedError, UnresolvedError
from quorate.grouping.kinds.plain import per_pod
from quorate.grouping.numbers import whole_or
from quorate.grouping.objects import Address, Owner
from quorate.grouping.subject import Shape, Subject, plain

REVISION_LABEL = "serving.knative.dev/revision"
MIN_SCALE = "autoscaling.knative.dev/min-scale"
DEFAULT_PRIORITY = "inference"


def service(subject: Subject) -> Shape:
    revision = _revision(subject)
    if not subject.context.settings.knative_gangs:
        return replace(
            per_pod(subject), source=revision, described=revision, default_priority=DEFAULT_PRIORITY
        )
    minimum, warnings = _min_scale(revision)
    return replace(
        plain(subject),
        name=f"pg-{revision.name}-{revision.uid}",
        owner=revision,
        source=revision,
        described=revision,
        chain=(revision,),
        min_member=minimum,
        default_priority=DEFAULT_PRIORITY,
        warnings=warnings,
    )


def _revision(subject: Subject) -> Owner:
    name = subject.label(REVISION_LABEL)
    if not name:
        raise MalformedError(
            f"label {REVISION_LABEL} is missing: the pod does not say which Revision it belongs to"
        )
    address = Address(subject.owner.api_version, "Revision", subject.pod.metadata.namespace, name)
    found = subject.context.find(address)
    if found is None:
        raise UnresolvedError(f"{address} does not exist")
    return found


def _min_scale(revision: Owner) -> tuple[int, tuple[str, ...]]:
    """A scale that cannot be read counts as one."""
    try:
        return whole_or(revision.annotations.get(MIN_SCALE), 1, f"annotation {MIN_SCALE} of {revision}"), ()
    except MalformedError as error:
        return 1, (f"{error}; 1 is used",)
