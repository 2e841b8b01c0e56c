"""The webhook configurations of an installation: what the API server asks us about, and what if we do not answer.

Objects of our own kinds are refused while nobody judges them: a wrong one could hold up many gangs. Pods are
never refused for that: without us they are created as they are, and the grouper labels them afterwards. Pods of other
schedulers are not even asked about.
"""

from quorate.api.composite import COMPOSITE_POD_GROUP
from quorate.api.lws import LEADER_WORKER_SET
from quorate.api.meta import Json, Kind
from quorate.api.podgroup import POD_GROUP_KINDS
from quorate.api.queue import QUEUE
from quorate.api.rbg import COORDINATED_POLICY, ROLE_BASED_GROUP_KINDS
from quorate.api.shipped import NAMESPACE
from quorate.api.topology import TOPOLOGY

NAME = "quorate"
SERVICE = "quorate-webhook"
VALIDATE = "/validate"
MUTATE = "/mutate"
JUDGED = (
    *POD_GROUP_KINDS,
    QUEUE,
    TOPOLOGY,
    COMPOSITE_POD_GROUP,
    LEADER_WORKER_SET,
    *ROLE_BASED_GROUP_KINDS,
    COORDINATED_POLICY,
)
COMPLETED = (*POD_GROUP_KINDS, LEADER_WORKER_SET)
_OURS = "has(object.spec.schedulerName) && object.spec.schedulerName == '{name}'"


def configurations(scheduler_name: str, url: str = "") -> list[Json]:
    """Both configurations; `url` is where we serve outside of the cluster, else it is our Service."""
    validating = [
        _webhook("kinds.validate.quorate.dev", VALIDATE, JUDGED, ["CREATE", "UPDATE"]),
        _webhook("deletion.validate.quorate.dev", VALIDATE, (QUEUE,), ["DELETE"]),
        _pods("pods.validate.quorate.dev", VALIDATE, scheduler_name),
    ]
    mutating = [
        _webhook("kinds.mutate.quorate.dev", MUTATE, COMPLETED, ["CREATE", "UPDATE"]),
        # another webhook may add what decides about the gang
        {**_pods("pods.mutate.quorate.dev", MUTATE, scheduler_name), "reinvocationPolicy": "IfNeeded"},
    ]
    return [
        _configuration("ValidatingWebhookConfiguration", validating, url),
        _configuration("MutatingWebhookConfiguration", mutating, url),
    ]


def service(port: int) -> Json:
    """Where the API server finds the process that runs admission."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SERVICE, "namespace": NAMESPACE},
        "spec": {
            "selector": {"app.kubernetes.io/name": "quorate"},
            "ports": [{"name": "webhook", "port": 443, "targetPort": port, "protocol": "TCP"}],
        },
    }


def dns_names() -> tuple[str, ...]:
    """What the API server calls the Service; the certificate must say the same."""
    return (f"{SERVICE}.{NAMESPACE}.svc", f"{SERVICE}.{NAMESPACE}.svc.cluster.local")


def _webhook(name: str, path: str, kinds: tuple[Kind, ...], operations: list[str]) -> Json:
    return {
        "name": name,
        "clientConfig": {"path": path},
        "rules": [
            {
                "apiGroups": [kind.group],
                "apiVersions": ["*"],
                "operations": operations,
                "resources": [kind.plural],
            }
            for kind in kinds
        ],
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "sideEffects": "None",
        "timeoutSeconds": 10,
        "admissionReviewVersions": ["v1"],
    }


def _pods(name: str, path: str, scheduler_name: str) -> Json:
    kind = Kind("", "v1", "Pod", "pods")
    return {
        **_webhook(name, path, (kind,), ["CREATE"]),
        "failurePolicy": "Ignore",
        "timeoutSeconds": 2,
        "matchConditions": [{"name": "our-scheduler", "expression": _OURS.format(name=scheduler_name)}],
    }


def _configuration(kind: str, webhooks: list[Json], url: str) -> Json:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": NAME},
        "webhooks": [{**one, "clientConfig": _client(one["clientConfig"]["path"], url)} for one in webhooks],
    }


def _client(path: str, url: str) -> Json:
    if url:
        return {"url": f"{url}{path}"}
    return {"service": {"name": SERVICE, "namespace": NAMESPACE, "path": path, "port": 443}}
