"""Which of our rules stands for which of upstream's groupers; none: the whole path from pod to gang."""

from quorate.grouping.kinds import grove, jobset, kubeflow, lws, plain, pytorch, ray
from quorate.grouping.subject import Rules

RULES: dict[str, Rules | None] = {
    "AmlGrouper": plain.aml_job,
    "CronJobGrouper": None,
    "DefaultGrouper": plain.any_kind,
    "DeploymentGrouper": plain.deployment,
    "GroveGrouper": grove.pod_gang,
    "JaxGrouper": kubeflow.jax,
    "JobSetGrouper": jobset.jobset,
    "K8sJobGrouper": plain.job,
    "LwsGrouper": lws.leader_worker_set,
    "MpiGrouper": kubeflow.mpi,
    "NotebookGrouper": plain.build,
    "PodJobGrouper": plain.bare_pod,
    "PyTorchGrouper": pytorch.pytorch,
    "RayClusterGrouper": ray.cluster,
    "RayJobGrouper": ray.job,
    "RayServiceGrouper": ray.service,
    "RunaiJobGrouper": plain.runai_job,
    "SpotRequestGrouper": plain.inference,
    "TensorFlowGrouper": kubeflow.tensorflow,
    "XGBoostGrouper": kubeflow.xgboost,
    "skipTopOwnerGrouper": None,
}
