"""Kinds that only wrap the workload that matters: the owner below decides and takes over what they say."""

from quorate.api import labels
from quorate.grouping.objects import Owner
from quorate.grouping.subject import Context

# by group and kind
WRAPPERS = frozenset(
    {
        ("argoproj.io", "CronWorkflow"),
        ("argoproj.io", "Workflow"),
        ("nvidia.com", "DynamoGraphDeployment"),
        ("run.ai", "DistributedInferenceWorkload"),
        ("run.ai", "DistributedWorkload"),
        ("run.ai", "InferenceWorkload"),
        ("run.ai", "InteractiveWorkload"),
        ("run.ai", "TrainingWorkload"),
        ("serving.kserve.io", "InferenceService"),
        ("serving.kserve.io", "LLMInferenceService"),
        ("trainer.kubeflow.org", "TrainJob"),
        ("workloads.instai.io", "RoleBasedGroup"),
        ("workloads.x-k8s.io", "RoleBasedGroup"),
    }
)

# Wraps too, but keeps what it says to itself: each run is a Job of its own, labelled by the job template.
SILENT = frozenset({("batch", "CronJob")})


def deciding(owners: tuple[Owner, ...], pod: Owner, context: Context) -> tuple[Owner, ...]:
    """The chain up to the owner whose kind decides, that owner enriched by the wrappers above it.

    A pod without owners, or with wrappers only, decides itself.
    """
    top = len(owners)
    wrappers = WRAPPERS | SILENT | context.settings.extensions.wrappers
    while top and owners[top - 1].group_kind in wrappers:
        top -= 1
    chain = owners[:top] or (pod,)
    last = chain[-1]
    for wrapper in owners[top:]:
        if wrapper.group_kind in SILENT:
            continue
        last = last.inheriting({**_defaults(wrapper, context), **wrapper.labels}, wrapper.annotations)
    return (*chain[:-1], last)


def _defaults(wrapper: Owner, context: Context) -> dict[str, str]:
    """A wrapper kind's defaults, as the labels that would say the same; a class must exist."""
    found = context.defaults.find(wrapper)
    if found is None:
        return {}
    priority = found.priority_name if found.priority_name in context.priority_classes else ""
    said = {labels.PRIORITY_CLASS: priority, labels.PREEMPTIBILITY: found.preemptibility}
    return {key: value for key, value in said.items() if value}
