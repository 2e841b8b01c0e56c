"""The kinds that the built-in controllers read and write, each with where the API serves it."""

from typing import Final

from quorate.api.meta import Kind

POD: Final = Kind("", "v1", "Pod", "pods")
NODE: Final = Kind("", "v1", "Node", "nodes", namespaced=False)
NAMESPACE: Final = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
EVENT: Final = Kind("", "v1", "Event", "events")
SERVICE: Final = Kind("", "v1", "Service", "services")
ENDPOINTS: Final = Kind("", "v1", "Endpoints", "endpoints")
SERVICE_ACCOUNT: Final = Kind("", "v1", "ServiceAccount", "serviceaccounts")
CONFIG_MAP: Final = Kind("", "v1", "ConfigMap", "configmaps")
CLAIM: Final = Kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims")
VOLUME: Final = Kind("", "v1", "PersistentVolume", "persistentvolumes", namespaced=False)
DEPLOYMENT: Final = Kind("apps", "v1", "Deployment", "deployments")
REPLICA_SET: Final = Kind("apps", "v1", "ReplicaSet", "replicasets")
STATEFUL_SET: Final = Kind("apps", "v1", "StatefulSet", "statefulsets")
DAEMON_SET: Final = Kind("apps", "v1", "DaemonSet", "daemonsets")
CONTROLLER_REVISION: Final = Kind("apps", "v1", "ControllerRevision", "controllerrevisions")
JOB: Final = Kind("batch", "v1", "Job", "jobs")
CRON_JOB: Final = Kind("batch", "v1", "CronJob", "cronjobs")
DISRUPTION_BUDGET: Final = Kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets")
ENDPOINT_SLICE: Final = Kind("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices")
LEASE: Final = Kind("coordination.k8s.io", "v1", "Lease", "leases")
PRIORITY_CLASS: Final = Kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False)
STORAGE_CLASS: Final = Kind("storage.k8s.io", "v1", "StorageClass", "storageclasses", namespaced=False)
