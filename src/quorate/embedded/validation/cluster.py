"""Rules of nodes, namespaces, configuration, claims, priorities and disruption budgets."""

import base64
import binascii

from quorate.api.meta import Json
from quorate.embedded.causes import Cause, duplicate, forbidden, invalid, not_supported, required, too_long
from quorate.embedded.quantities import nanos
from quorate.embedded.validation import names
from quorate.embedded.validation.containers import quantity
from quorate.embedded.validation.labelselectors import label_selector
from quorate.embedded.validation.metadata import unchanged
from quorate.embedded.validation.placement import EFFECTS
from quorate.embedded.validation.workloads import at_most_all, int_or_percent

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_HIGHEST_PRIORITY = 1_000_000_000
_SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_MAX_BYTES = 1024 * 1024
_PREEMPTION = ("PreemptLowerPriority", "Never")
_CLAIM_MAY_CHANGE = frozenset(("volumeAttributesClassName",))
_FROZEN = "field is immutable when `immutable` is set"


def node(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    taken: set[tuple[str, str]] = set()
    for index, taint in enumerate(obj["spec"].get("taints") or ()):
        path = f"metadata.taints[{index}]"
        key, value, effect = taint.get("key", ""), taint.get("value") or "", taint.get("effect", "")
        found += [invalid(f"{path}.key", key, message) for message in names.label_key(key)]
        found += [invalid(f"{path}.value", value, message) for message in names.label_value(value)]
        if not effect:
            found.append(required(f"{path}.effect"))
        elif effect not in EFFECTS:
            found.append(not_supported(f"{path}.effect", effect, EFFECTS))
        if (key, effect) in taken:
            found.append(duplicate(path, taint))
        taken.add((key, effect))
    for field in ("capacity", "allocatable"):
        for name, amount in (obj["status"].get(field) or {}).items():
            quantity(found, amount, f"status.{field}[{name}]", whole=name != "cpu" and "/" in name)
    return found


def node_update(new: Json, old: Json) -> list[Cause]:
    found: list[Cause] = []
    for field, word in (("podCIDRs", "podCIDR"), ("providerID", "providerID")):
        if old["spec"].get(field) and new["spec"].get(field) != old["spec"][field]:
            detail = f'node updates may not change {word} except from "" to valid'
            found.append(forbidden(f"spec.{field}", detail))
    return found


def namespace(obj: Json) -> list[Cause]:
    finalizers = obj["spec"].get("finalizers") or ()
    found = [
        invalid("spec.finalizers", one, text)
        for one in finalizers
        if one != "kubernetes"
        for text in names.label_key(one)
    ]
    bare = [one for one in finalizers if one != "kubernetes" and "/" not in one]
    detail = "name is neither a standard finalizer name nor is it fully qualified"
    return [*found, *(invalid("spec.finalizers", one, detail) for one in bare)]


def config_map(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    for key in data:
        found += [invalid(f"data[{key}]", key, message) for message in names.config_key(key)]
        if key in binary:
            found.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
    for key in binary:
        found += [invalid(f"binaryData[{key}]", key, message) for message in names.config_key(key)]
    if sum(map(len, data.values())) + sum(map(len, binary.values())) > _MAX_BYTES:
        found.append(too_long("[]", _MAX_BYTES))
    return found


def secret(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    data = obj.get("data") or {}
    for key, value in data.items():
        found += [invalid(f"data[{key}]", key, message) for message in names.config_key(key)]
        if not _is_base64(value):
            found.append(invalid(f"data[{key}]", "<secret contents redacted>", "illegal base64 data"))
    if sum(map(len, data.values())) * 3 // 4 > _MAX_BYTES:
        found.append(too_long("data", _MAX_BYTES))
    if obj["type"] == "kubernetes.io/tls":
        found += [required(f"data[{key}]") for key in ("tls.crt", "tls.key") if key not in data]
    return found


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def frozen_update(new: Json, old: Json) -> list[Cause]:
    """Config maps and secrets that say they are immutable."""
    found: list[Cause] = []
    if "type" in old:
        unchanged(found, new, old, "", "type")
    if old.get("immutable"):
        if not new.get("immutable"):
            found.append(forbidden("immutable", _FROZEN))
        fields = [
            field for field in ("data", "binaryData") if (new.get(field) or {}) != (old.get(field) or {})
        ]
        found += [forbidden(field, _FROZEN) for field in fields]
    return found


def persistent_volume_claim(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    spec = obj["spec"]
    modes = spec.get("accessModes") or []
    if not modes:
        found.append(required("spec.accessModes", "at least 1 access mode is required"))
    found += [
        not_supported("spec.accessModes", mode, _ACCESS_MODES) for mode in modes if mode not in _ACCESS_MODES
    ]
    storage = (spec["resources"].get("requests") or {}).get("storage")
    if storage is None:
        found.append(required("spec.resources[storage]"))
    elif not _is_positive(storage):
        found.append(invalid("spec.resources[storage]", storage, "must be greater than zero"))
    return found


def persistent_volume_claim_update(new: Json, old: Json) -> list[Cause]:
    def fixed(spec: Json) -> Json:
        kept = {field: value for field, value in spec.items() if field not in _CLAIM_MAY_CHANGE}
        return {**kept, "resources": {**spec["resources"], "requests": None}}

    after, before = new["spec"], old["spec"]
    # A claim takes its volume and its class once.
    taken = {field: after.get(field) for field in ("volumeName", "storageClassName") if not before.get(field)}
    if fixed(after) == fixed(
        {**before, **{name: value for name, value in taken.items() if value is not None}}
    ):
        return []
    changed = sorted(field for field in after.keys() | before.keys() if after.get(field) != before.get(field))
    listed = "\n".join(f"spec.{field}" for field in changed)
    detail = "spec is immutable after creation except resources.requests and volumeAttributesClassName"
    return [forbidden("spec", f"{detail} for bound claims\n{listed}\n")]


def _is_positive(amount: str) -> bool:
    try:
        return nanos(amount) > 0
    except ValueError:
        return False


def priority_class(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    name, value = obj["metadata"].get("name", ""), obj["value"]
    if name.startswith("system-"):
        if _SYSTEM_PRIORITIES.get(name) != value:
            found.append(forbidden("metadata.name", _reserved(name, value)))
    elif value > _HIGHEST_PRIORITY:
        detail = f"maximum allowed value of a user defined priority is {_HIGHEST_PRIORITY}"
        found.append(forbidden("value", detail))
    if obj["preemptionPolicy"] not in _PREEMPTION:
        found.append(not_supported("preemptionPolicy", obj["preemptionPolicy"], _PREEMPTION))
    return found


def _reserved(name: str, value: int) -> str:
    known = _SYSTEM_PRIORITIES.get(name)
    why = (
        f"{name} is not a known system priority class"
        if known is None
        else f"value of {name} PriorityClass must be {known}"
    )
    rule = "priority class names with 'system-' prefix are reserved for system use only"
    return f"{rule}. error: {why}" + (f", found {value}" if known is not None else "")


def priority_class_update(new: Json, old: Json) -> list[Cause]:
    found: list[Cause] = []
    if new["value"] != old["value"]:
        found.append(forbidden("value", "may not be changed in an update."))
    unchanged(found, new, old, "", "preemptionPolicy")
    return found


def pod_disruption_budget(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    spec = obj.get("spec") or {}
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        detail = "minAvailable and maxUnavailable cannot be both set"
        fields = ("minAvailable", "selector", "maxUnavailable", "unhealthyPodEvictionPolicy")
        # Shown as Go shows it, by the names of its own fields.
        shown = {field[0].upper() + field[1:]: spec.get(field) for field in fields}
        found.append(invalid("spec", shown, detail))
    for field in ("minAvailable", "maxUnavailable"):
        int_or_percent(found, spec.get(field), f"spec.{field}")
        at_most_all(found, spec.get(field), f"spec.{field}")
    found += label_selector(spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in {"AlwaysAllow", "IfHealthyBudget"}:
        supported = ("AlwaysAllow", "IfHealthyBudget")
        found.append(not_supported("spec.unhealthyPodEvictionPolicy", policy, supported))
    return found
