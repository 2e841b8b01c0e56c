"""Which rules group which kind: one table. Versions do not matter; other kinds get the default."""

from quorate.grouping.kinds import grove, jobset, knative, kubeflow, lws, plain, pytorch, ray
from quorate.grouping.subject import Extensions, Rules

# rules by group and kind
TABLE: dict[tuple[str, str], Rules] = {
    ("", "Pod"): plain.bare_pod,
    ("amlarc.azureml.com", "AmlJob"): plain.aml_job,
    ("apps", "DaemonSet"): plain.per_pod,
    ("apps", "Deployment"): plain.deployment,
    ("apps", "ReplicaSet"): plain.any_kind,
    ("apps", "StatefulSet"): plain.any_kind,
    ("batch", "Job"): plain.job,
    ("egx.nvidia.io", "SPOTRequest"): plain.inference,
    ("grove.io", "PodCliqueSet"): grove.pod_gang,
    ("grove.io", "PodGangSet"): grove.pod_gang,
    ("jobset.x-k8s.io", "JobSet"): jobset.jobset,
    ("kubeflow.org", "JAXJob"): kubeflow.jax,
    ("kubeflow.org", "MPIJob"): kubeflow.mpi,
    ("kubeflow.org", "Notebook"): plain.build,
    ("kubeflow.org", "PyTorchJob"): pytorch.pytorch,
    ("kubeflow.org", "ScheduledWorkflow"): plain.any_kind,
    ("kubeflow.org", "TFJob"): kubeflow.tensorflow,
    ("kubeflow.org", "XGBoostJob"): kubeflow.xgboost,
    ("kubevirt.io", "VirtualMachineInstance"): plain.any_kind,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): lws.leader_worker_set,
    ("machinelearning.seldon.io", "SeldonDeployment"): plain.any_kind,
    ("ray.io", "RayCluster"): ray.cluster,
    ("ray.io", "RayJob"): ray.job,
    ("ray.io", "RayService"): ray.service,
    ("run.ai", "RunaiJob"): plain.runai_job,
    ("serving.knative.dev", "Service"): knative.service,
    ("sparkoperator.k8s.io", "SparkApplication"): plain.spark_application,
    ("tekton.dev", "PipelineRun"): plain.any_kind,
    ("tekton.dev", "TaskRun"): plain.any_kind,
    ("workspace.devfile.io", "DevWorkspace"): plain.any_kind,
}

# Kinds whose status says which objects make them up; of others grouping reads spec and metadata only.
READ_WITH_STATUS = frozenset({("ray.io", "RayJob"), ("ray.io", "RayService")})


def rules_for(group_kind: tuple[str, str], extensions: Extensions) -> Rules:
    return extensions.kinds.get(group_kind) or TABLE.get(group_kind, plain.any_kind)
