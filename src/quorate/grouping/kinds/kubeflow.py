"""Kubeflow's training jobs whose roles form one flat gang: TensorFlow, XGBoost, JAX, MPI.

`total_members` and `minimum` are PyTorch's too.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from quorate.grouping.errors import MalformedError
from quorate.grouping.numbers import whole
from quorate.grouping.objects import Owner, dig
from quorate.grouping.subject import Shape, Subject, plain

REPLICA_TYPE = "training.kubeflow.org/replica-type"
REPLICA_INDEX = "training.kubeflow.org/replica-index"
JOB_ROLE = "training.kubeflow.org/job-role"
LAUNCHER = "Launcher"


def tensorflow(subject: Subject) -> Shape:
    return _flat(subject, "tfReplicaSpecs", ())


def xgboost(subject: Subject) -> Shape:
    return _flat(subject, "xgbReplicaSpecs", ("Master", "Worker"))


def jax(subject: Subject) -> Shape:
    return _flat(subject, "jaxReplicaSpecs", ("Worker",))


def mpi(subject: Subject) -> Shape:
    """As the others; a launcher that is created last does not count until it is there."""
    shape = _flat(subject, "mpiReplicaSpecs", (LAUNCHER, "Worker"))
    is_delayed = subject.owner.at("spec", "launcherCreationPolicy") == "WaitForWorkersReady"
    if not is_delayed:
        return shape
    pods = (*subject.peers.pods, *subject.peers.beside)
    if any(_is_launcher(pod.metadata.labels) for pod in pods):
        return shape
    assert shape.min_member is not None
    launchers = replicas(subject.owner, "mpiReplicaSpecs").get(LAUNCHER, 0)
    return replace(shape, min_member=max(0, shape.min_member - launchers))


def _is_launcher(labels: Mapping[str, str] | None) -> bool:
    found = labels or {}
    return LAUNCHER.lower() in {found.get(REPLICA_TYPE, "").lower(), found.get(JOB_ROLE, "").lower()}


def _flat(subject: Subject, field: str, required: tuple[str, ...]) -> Shape:
    return replace(trained(subject), min_member=minimum(subject.owner, field, required))


def trained(subject: Subject) -> Shape:
    """The plain shape with the queue and priority that the job's own scheduling policy names."""
    policy = subject.owner.at("spec", "runPolicy", "schedulingPolicy")
    return replace(
        plain(subject),
        asked_queue=str(dig(policy, "queue") or ""),
        asked_priority=str(dig(policy, "priorityClass") or ""),
    )


def minimum(owner: Owner, field: str, required: tuple[str, ...]) -> int:
    """How many members the job needs: what its scheduling policy says, else all of them."""
    asked = min_available(owner)
    if asked is not None:
        return asked
    return total_members(owner, field, required)


def min_available(owner: Owner) -> int | None:
    value = owner.at("spec", "runPolicy", "schedulingPolicy", "minAvailable")
    return None if value is None else whole(value, "spec.runPolicy.schedulingPolicy.minAvailable")


def total_members(owner: Owner, field: str, required: tuple[str, ...]) -> int:
    counts = replicas(owner, field)
    missing = next((role for role in required if role not in counts), None)
    if missing:
        raise MalformedError(f"spec.{field}.{missing} of {owner} is missing: the job needs this role")
    empty = next((role for role, count in counts.items() if count == 0), None)
    if empty:
        raise MalformedError(
            f"spec.{field}.{empty}.replicas of {owner} is 0: give it members or leave the role out"
        )
    if not counts:
        raise MalformedError(f"spec.{field} of {owner} names no roles")
    return sum(counts.values())


def replicas(owner: Owner, field: str) -> dict[str, int]:
    """Members by role; a role that does not say has one, as the operator defaults it."""
    specs: Any = owner.at("spec", field)
    if not isinstance(specs, Mapping):
        raise MalformedError(f"spec.{field} of {owner} is missing: the job has no roles")
    return {role: _count(spec, f"spec.{field}.{role}.replicas") for role, spec in specs.items()}


def _count(spec: Any, field: str) -> int:
    value = dig(spec, "replicas")
    return 1 if value is None else whole(value, field)
