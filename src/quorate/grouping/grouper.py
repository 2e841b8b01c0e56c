"""Group the pods of one workload: which gangs they form, and which group of its gang each pod belongs to.

`group` is the entry. `writes.plan` turns its answer into changes. What a kind means stands in `kinds`, which
kind means what in `registry`, what all kinds share in `derive`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import is_

import msgspec

from quorate.api import labels
from quorate.api.core import Pod
from quorate.api.expected import ExpectedPod
from quorate.api.meta import Json
from quorate.api.podgroup import POD_GROUP, PodGroupSpec
from quorate.grouping.derive import Derived, derive
from quorate.grouping.errors import GroupingError, MalformedError, NotFetchedError
from quorate.grouping.expected import announced, expectation
from quorate.grouping.names import short, valid_names
from quorate.grouping.objects import Owner, owner_from_pod
from quorate.grouping.overrides import overridden, with_valid_names
from quorate.grouping.owners import Chain, walk
from quorate.grouping.registry import rules_for
from quorate.grouping.subject import Context, Peers, Shape, Subject
from quorate.grouping.toplevel import deciding
from quorate.grouping.topology import constraint
from quorate.rules.validity import validate


@dataclass(frozen=True, slots=True)
class Gang:
    """One PodGroup as it should be, and its members with the group of each (`""`: none)."""

    name: str
    namespace: str
    body: Json
    members: tuple[tuple[Pod, str], ...]


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the owner of a pod should know; `is_refusal` if the pod was not grouped because of it."""

    pod: Pod
    message: str
    is_refusal: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """A gang, what is to be said about it, and the very objects that it follows from."""

    pods: tuple[Pod, ...]
    shapes: tuple[Shape, ...]
    gang: Gang
    said: tuple[str, ...]

    def follows_from(self, pods: tuple[Pod, ...], shapes: tuple[Shape, ...]) -> bool:
        return (
            len(pods) == len(self.pods)
            and all(map(is_, pods, self.pods))
            and all(map(is_, shapes, self.shapes))
        )


@dataclass(frozen=True, slots=True)
class Basis:
    """What a grouping was made from: what follows from the same objects is not asked again.

    `shapes` are by the identity of their pod; those that depend on other pods are not among them.
    """

    context: Context
    shapes: Mapping[int, tuple[Pod, Shape]]
    gangs: Mapping[str, Made]


@dataclass(frozen=True, slots=True)
class Grouping:
    gangs: tuple[Gang, ...] = ()
    warnings: tuple[Warned, ...] = ()
    basis: Basis | None = field(default=None, compare=False, repr=False)


def group(
    pods: Iterable[Pod],
    context: Context,
    beside: tuple[Pod, ...] = (),
    before: Grouping | None = None,
) -> Grouping:
    """Group the pods of one workload; `beside` are pods of it that exist but are not to be grouped now.

    An earlier grouping makes it faster and no other. `NotFetchedError` names an object that the caller has to
    fetch before asking again.
    """
    known = before.basis if before and before.basis and before.basis.context == context else None
    chains, warnings = _chains(pods, context)
    expected, wrong = announced(chains)
    warnings += [Warned(pod, message) for pod, message in wrong]
    chains += expected
    subjects = _subjects(chains, context, beside)
    shapes, lasting, refused = _shapes(subjects, known.shapes if known else {})
    made: dict[str, Made] = {}
    for name, members in _by_gang(shapes).items():
        try:
            made[name] = _made(members, context, known.gangs.get(name) if known else None)
        except GroupingError as error:
            refused += [Warned(subject.pod, str(error), is_refusal=True) for subject, _ in members]
            continue
        warnings += [Warned(members[0][0].pod, message) for message in made[name].said]
    gangs = tuple(found.gang for found in made.values())
    return Grouping(gangs, (*warnings, *refused), Basis(context, lasting, made))


def is_ours(pod: Pod, context: Context) -> bool:
    """Whether the pod is to be grouped at all."""
    meta = pod.metadata
    if pod.spec.scheduler_name not in context.settings.scheduler_names:
        return False
    if meta.annotation(labels.SKIP_POD_GROUPER) == "true":
        return False
    if not meta.owner_references and meta.annotation(labels.POD_GROUP_NAME) and not _made_here(pod):
        return False
    return not pod.is_finished and not pod.is_deleting


def _made_here(pod: Pod) -> bool:
    """Whether a bare pod names the PodGroup that we would make for it, not one of its user's."""
    return pod.metadata.annotation(labels.POD_GROUP_NAME) == f"pg-{pod.metadata.name}-{pod.metadata.uid}"


def _chains(pods: Iterable[Pod], context: Context) -> tuple[list[tuple[Pod, Chain]], list[Warned]]:
    """Pods of one owner share a chain: it is walked once."""
    chains, warnings = [], []
    walked: dict[tuple[object, ...], Chain] = {}
    for pod in sorted(pods, key=lambda pod: pod.metadata.name):
        if not is_ours(pod, context):
            continue
        try:
            owners = pod.metadata.namespace, *(pod.metadata.owner_references or ())
            chain = walked[owners] = walked.get(owners) or walk(pod, context.objects)
        except NotFetchedError:
            raise
        except GroupingError as error:
            warnings.append(Warned(pod, str(error), is_refusal=True))
            continue
        if chain.unreadable:
            warnings.append(
                Warned(
                    pod,
                    f"owner {chain.unreadable} may not be read: grouped by what is below it; grant get, list and watch",
                )
            )
        if all(owner.annotations.get(labels.SKIP_POD_GROUPER) != "true" for owner in chain.owners):
            chains.append((pod, chain))
    return chains, warnings


def _subjects(
    chains: Sequence[tuple[Pod, Chain]], context: Context, beside: tuple[Pod, ...]
) -> list[Subject]:
    peers = Peers(tuple(pod for pod, _ in chains), beside)
    subjects = []
    decided: dict[int, tuple[Owner, ...]] = {}  # by chain, unless the pod itself decides
    for pod, chain in chains:
        owners = decided.get(id(chain)) or deciding(chain.owners, owner_from_pod(pod), context)
        if owners[-1].uid != pod.metadata.uid:
            decided[id(chain)] = owners
        subjects.append(Subject(pod, owners[-1], owners, peers, context))
    return subjects


def _shapes(
    subjects: Iterable[Subject], known: Mapping[int, tuple[Pod, Shape]]
) -> tuple[list[tuple[Subject, Shape]], dict[int, tuple[Pod, Shape]], list[Warned]]:
    """The shapes, those among them that the next pass may take over, and what was refused."""
    shapes, lasting, refused = [], {}, []
    for subject in subjects:
        pod = subject.pod
        try:
            shape = known[id(pod)][1] if id(pod) in known else _shape(subject)
        except NotFetchedError:
            raise
        except GroupingError as error:
            refused.append(Warned(pod, str(error), is_refusal=True))
            continue
        shapes.append((subject, shape))
        if id(pod) in known or not subject.peers.were_read:
            lasting[id(pod)] = pod, shape
    return shapes, lasting, refused


def _shape(subject: Subject) -> Shape:
    subject.peers.were_read = False
    found = rules_for(subject.owner.group_kind, subject.context.settings.extensions)(subject)
    return overridden(found, subject)


def _by_gang(shapes: Iterable[tuple[Subject, Shape]]) -> dict[str, list[tuple[Subject, Shape]]]:
    gangs: dict[str, list[tuple[Subject, Shape]]] = {}
    for subject, shape in shapes:
        gangs.setdefault(shape.name, []).append((subject, shape))
    return gangs


def _made(members: list[tuple[Subject, Shape]], context: Context, known: Made | None) -> Made:
    pods = tuple(subject.pod for subject, _ in members)
    shapes = tuple(shape for _, shape in members)
    if known and known.follows_from(pods, shapes):
        return known
    return Made(pods, shapes, *gang(members, context))


def gang(members: list[tuple[Subject, Shape]], context: Context) -> tuple[Gang, tuple[str, ...]]:
    """The gang of pods that share a name; its first pod by name speaks for the shape."""
    subject, shape = members[0]
    shape = with_valid_names(replace(shape, name=short(shape.name)))
    names = valid_names(found.sub_group for _, found in members)
    derived = derive(shape, tuple(member.pod for member, _ in members), context)
    spec = _spec(shape, derived)
    findings = validate(spec)
    if findings.errors:
        raise MalformedError(f"the PodGroup of {shape.described} would be refused: {findings.errors[0]}")
    placed = [(member.pod, names[found.sub_group]) for member, found in members]
    derived.annotations.update(expectation(placed))
    namespace = subject.pod.metadata.namespace
    made = Gang(
        name=shape.name,
        namespace=namespace,
        body=_body(shape, derived, spec, namespace),
        members=tuple(one for one in placed if not isinstance(one[0], ExpectedPod)),
    )
    return made, (*shape.warnings, *derived.warnings, *map(str, findings.warnings))


def _spec(shape: Shape, derived: Derived) -> PodGroupSpec:
    return PodGroupSpec(
        min_member=shape.min_member,
        min_sub_group=shape.min_sub_group,
        sub_groups=list(shape.sub_groups) or None,
        queue=derived.queue,
        priority_class_name=derived.priority,
        preemptibility=derived.preemptibility,
        topology_constraint=shape.constraint or constraint(shape.source.annotations),
        preemption_delay=derived.preemption_delay or None,
        staleness_grace_period=derived.staleness_grace_period or None,
    )


def _body(shape: Shape, derived: Derived, spec: PodGroupSpec, namespace: str) -> Json:
    """The PodGroup as it is applied: only the fields that grouping owns."""
    metadata: Json = {
        "name": shape.name,
        "namespace": namespace,
        "annotations": derived.annotations,
        "ownerReferences": [_reference(shape.owner)],
    }
    if derived.labels:
        metadata["labels"] = derived.labels
    return {
        "apiVersion": POD_GROUP.api_version,
        "kind": POD_GROUP.kind,
        "metadata": metadata,
        "spec": msgspec.to_builtins(spec),
    }


def _reference(owner: Owner) -> Json:
    return {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid}
