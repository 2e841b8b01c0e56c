"""Defaults of the HorizontalPodAutoscaler, in its v2 shape."""

from quorate.api.meta import Json
from quorate.embedded.defaults.workloads import fill

_CPU_PERCENT = 80


def horizontal_pod_autoscaler(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    fill(spec, minReplicas=1)
    if str(obj.get("apiVersion", "")).endswith("/v1"):
        return
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": _CPU_PERCENT}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = spec.get("behavior")
    if behavior is not None:
        fill(behavior, scaleUp={}, scaleDown={})
        fill(behavior["scaleUp"], stabilizationWindowSeconds=0, selectPolicy="Max")
        fill(behavior["scaleUp"], policies=[_policy("Pods", 4), _policy("Percent", 100)])
        fill(behavior["scaleDown"], selectPolicy="Max", policies=[_policy("Percent", 100)])


def _policy(kind: str, value: int) -> Json:
    return {"type": kind, "value": value, "periodSeconds": 15}
