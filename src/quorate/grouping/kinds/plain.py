"""Kinds without groups of their own: one gang per owner, per pod, or per part of the pod's name."""

from dataclasses import replace

from quorate.api import labels
from quorate.grouping.errors import MalformedError
from quorate.grouping.names import object_name
from quorate.grouping.numbers import whole
from quorate.grouping.objects import Owner, owner_from_pod
from quorate.grouping.subject import Shape, Subject, plain

SPARK_APP = "spark-app-name"
SPARK_SELECTOR = "spark-app-selector"
AML_NODE_COUNT = "AZUREML_NODE_COUNT"


def any_kind(subject: Subject) -> Shape:
    """One gang per owner; every owner on the way may name a priority."""
    return replace(plain(subject), chain=subject.chain)


def inference(subject: Subject) -> Shape:
    return replace(plain(subject), default_priority="inference")


def build(subject: Subject) -> Shape:
    return replace(plain(subject), default_priority="build")


def job(subject: Subject) -> Shape:
    """One gang per Job; an annotation says how many pods it needs."""
    text = subject.owner.annotations.get(labels.BATCH_MIN_MEMBER)
    if text is None:
        return plain(subject)
    return replace(plain(subject), min_member=whole(text, f"annotation {labels.BATCH_MIN_MEMBER}"))


def bare_pod(subject: Subject) -> Shape:
    """One gang per pod, except that Spark's driver and executors are one."""
    selector = subject.label(SPARK_SELECTOR)
    if subject.label(SPARK_APP) and selector:
        return replace(plain(subject), name=object_name(selector))
    return plain(subject)


def per_pod(subject: Subject) -> Shape:
    """One gang per pod, owned by the pod, with everything else from the owner."""
    pod = subject.pod.metadata
    return replace(plain(subject), name=f"pg-{pod.name}-{pod.uid}", owner=owner_from_pod(subject.pod))


def deployment(subject: Subject) -> Shape:
    """Serving pods start one by one, unless they are asked to be one gang."""
    if wants_one_gang(subject.owner):
        return inference(subject)
    return replace(per_pod(subject), default_priority="inference")


def wants_one_gang(owner: Owner) -> bool:
    text = owner.annotations.get(labels.GROUP_AS, "")
    if text not in {"", "one", "pods"}:
        raise MalformedError(f"annotation {labels.GROUP_AS}: {text!r} is neither 'one' nor 'pods'")
    return text == "one"


def aml_job(subject: Subject) -> Shape:
    count = subject.owner.at("spec", "job", "options", "envs", AML_NODE_COUNT)
    if count is None:
        raise MalformedError(f"spec.job.options.envs.{AML_NODE_COUNT} of {subject.owner} is missing")
    return replace(
        plain(subject), min_member=whole(count, f"spec.job.options.envs.{AML_NODE_COUNT}", least=1)
    )


def runai_job(subject: Subject) -> Shape:
    """One gang per index: the pod's name without its last part."""
    beginning = subject.pod.metadata.name.rpartition("-")[0] or subject.pod.metadata.name
    return replace(plain(subject), name=f"pg-{beginning}-{subject.owner.uid}")


def spark_application(subject: Subject) -> Shape:
    """Driver and executors of one application: the driver starts first and asks for its executors."""
    return plain(subject)
