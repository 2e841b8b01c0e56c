"""Defaults of persistent volumes, claims and storage classes."""

from quorate.api.meta import Json
from quorate.embedded.quantities import canonical


def claim_spec(spec: Json) -> None:
    if not spec.get("volumeMode"):
        spec["volumeMode"] = "Filesystem"
    resources = spec.setdefault("resources", {})
    for amounts in (resources.get("requests"), resources.get("limits")):
        _canonicalise(amounts)


def persistent_volume_claim(obj: Json) -> None:
    claim_spec(obj.setdefault("spec", {}))
    status = obj.setdefault("status", {})
    status["phase"] = status.get("phase") or "Pending"


def persistent_volume(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    if not spec.get("volumeMode"):
        spec["volumeMode"] = "Filesystem"
    if not spec.get("persistentVolumeReclaimPolicy"):
        spec["persistentVolumeReclaimPolicy"] = "Retain"
    _canonicalise(spec.get("capacity"))
    if spec.get("hostPath") is not None:
        spec["hostPath"].setdefault("type", "")
    status = obj.setdefault("status", {})
    status["phase"] = status.get("phase") or "Pending"


def storage_class(obj: Json) -> None:
    if obj.get("reclaimPolicy") is None:
        obj["reclaimPolicy"] = "Delete"
    if obj.get("volumeBindingMode") is None:
        obj["volumeBindingMode"] = "Immediate"


def _canonicalise(amounts: Json | None) -> None:
    for name, amount in (amounts or {}).items():
        try:
            amounts[name] = canonical(str(amount))  # type: ignore[index]  # the loop runs only when it is there
        except ValueError:
            continue  # validation refuses it, with its field
