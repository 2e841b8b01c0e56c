"""Defaults of pods and pod templates: the pod spec, its containers, probes and volumes.

Every workload kind defaults its template through `template`; only pods themselves get requests from limits.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from quorate.api.meta import Json
from quorate.embedded.quantities import canonical

_PROBE_NUMBERS = (
    ("timeoutSeconds", 1),
    ("periodSeconds", 10),
    ("successThreshold", 1),
    ("failureThreshold", 3),
)
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_MODED_SOURCES = ("secret", "configMap", "downwardAPI", "projected")
_FILE_MODE = 0o644


def pod(obj: Json) -> None:
    spec = obj.get("spec")
    if spec is None:
        spec = obj["spec"] = {}
    pod_spec(spec)
    containers = spec.get("containers") or []
    init_containers = spec.get("initContainers")
    for container in [*containers, *init_containers] if init_containers else containers:
        _request_what_is_limited(container["resources"])
        if spec.get("hostNetwork"):
            for port in container.get("ports") or ():
                if not port.get("hostPort"):
                    port["hostPort"] = port.get("containerPort", 0)
    if spec.get("enableServiceLinks") is None:
        spec["enableServiceLinks"] = True
    for condition in (obj.get("status") or {}).get("conditions") or ():
        # Times that Go cannot leave out.
        condition.setdefault("lastProbeTime", None)
        condition.setdefault("lastTransitionTime", None)


def template_object(obj: Json) -> None:
    template(obj)


def template(owner: Json) -> Json:
    """Complete `owner.template` and return it."""
    found: Json = owner.setdefault("template", {})
    found.setdefault("metadata", {})
    pod_spec(found.setdefault("spec", {}))
    return found


def pod_spec(spec: Json) -> None:
    if not spec.get("restartPolicy"):
        spec["restartPolicy"] = "Always"
    if spec.get("terminationGracePeriodSeconds") is None:
        spec["terminationGracePeriodSeconds"] = 30
    if not spec.get("dnsPolicy"):
        spec["dnsPolicy"] = "ClusterFirst"
    if spec.get("securityContext") is None:
        spec["securityContext"] = {}
    if not spec.get("schedulerName"):
        spec["schedulerName"] = "default-scheduler"
    for field in ("containers", "initContainers", "ephemeralContainers"):
        for one in spec.get(field) or ():
            _container(one)
    _service_account_alias(spec)
    for volume in spec.get("volumes") or ():
        _volume(volume)
    overhead = spec.get("overhead")
    if overhead:
        _canonicalise(overhead)


def _service_account_alias(spec: Json) -> None:
    """The deprecated field mirrors the one in use."""
    name = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if name:
        spec["serviceAccountName"] = spec["serviceAccount"] = name


def _container(container: Json) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(container.get("image") or "")
    if not container.get("terminationMessagePath"):
        container["terminationMessagePath"] = "/dev/termination-log"
    if not container.get("terminationMessagePolicy"):
        container["terminationMessagePolicy"] = "File"
    resources = container.get("resources")
    if resources:
        _amounts(resources)
    else:
        container["resources"] = {}
    for port in container.get("ports") or ():
        if not port.get("protocol"):
            port["protocol"] = "TCP"
    for name in _PROBES:
        if container.get(name):
            _probe(container[name])
    lifecycle = container.get("lifecycle") or {}
    _http_get(lifecycle.get("postStart"))
    _http_get(lifecycle.get("preStop"))
    _environment(container.get("env") or ())


def _amounts(resources: Json) -> None:
    for amounts in (resources.get("limits"), resources.get("requests")):
        if amounts:
            _canonicalise(amounts)


def _environment(entries: Sequence[Json]) -> None:
    for entry in entries:
        field_ref = (entry.get("valueFrom") or {}).get("fieldRef")
        if field_ref is not None and not field_ref.get("apiVersion"):
            field_ref["apiVersion"] = "v1"


def _canonicalise(amounts: dict[str, Any]) -> None:
    for name, amount in amounts.items():
        try:
            amounts[name] = canonical(amount if type(amount) is str else str(amount))
        except ValueError:
            continue  # validation refuses it, with its field


def _request_what_is_limited(resources: Json) -> None:
    limits = resources.get("limits")
    if not limits:
        return
    requests = resources.get("requests")
    resources["requests"] = {**limits, **requests} if requests else dict(limits)


def _probe(probe: Json) -> None:
    for field, number in _PROBE_NUMBERS:
        if not probe.get(field):
            probe[field] = number
    _http_get(probe)
    if probe.get("grpc"):
        probe["grpc"].setdefault("service", "")


def _http_get(action: Json | None) -> None:
    if not action or not action.get("httpGet"):
        return
    request = action["httpGet"]
    request["path"] = request.get("path") or "/"
    request["scheme"] = request.get("scheme") or "HTTP"


def _volume(volume: Json) -> None:
    if len(volume) <= 1:
        volume["emptyDir"] = {}
        return
    for source in _MODED_SOURCES:
        found = volume.get(source)
        if found is not None and found.get("defaultMode") is None:
            found["defaultMode"] = _FILE_MODE
    host_path = volume.get("hostPath")
    if host_path is not None:
        host_path.setdefault("type", "")
    for source in (volume.get("projected") or {}).get("sources") or ():
        token = source.get("serviceAccountToken")
        if token is not None and token.get("expirationSeconds") is None:
            token["expirationSeconds"] = 3600
    _downward_items(volume)


def _downward_items(volume: Json) -> None:
    projected = (volume.get("projected") or {}).get("sources") or ()
    for source in (volume.get("downwardAPI"), *(part.get("downwardAPI") for part in projected)):
        for item in (source or {}).get("items") or ():
            field_ref = item.get("fieldRef")
            if field_ref is not None and not field_ref.get("apiVersion"):
                field_ref["apiVersion"] = "v1"


@lru_cache(maxsize=1024)
def pull_policy(image: str) -> str:
    """Always for `latest`, said or implied."""
    reference, digest, _ = image.partition("@")
    _, colon, tag = reference.rpartition("/")[2].partition(":")
    latest = tag == "latest" or (not colon and not digest)
    return "Always" if latest else "IfNotPresent"
