"""The rows of nodes, namespaces, configuration, leases, events, priorities and storage."""

from quorate.api.meta import Json
from quorate.embedded.tables.age import since
from quorate.embedded.tables.printer import (
    NAME,
    Cell,
    Column,
    Printer,
    age,
    columns,
    fields,
    name,
    text,
)

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ACCESS_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def node(obj: Json, now: float) -> list[Cell]:
    status = obj.get("status") or {}
    info = fields(status, "nodeInfo")
    kernel = text(info, "kernelVersion", absent="<unknown>")
    if info.get("architecture"):
        kernel += f" ({info['architecture']})"
    return [
        name(obj),
        _node_state(obj, status),
        ",".join(_roles(obj["metadata"].get("labels") or {})) or "<none>",
        age(obj, now),
        text(info, "kubeletVersion"),
        _address(status, "InternalIP"),
        _address(status, "ExternalIP"),
        text(info, "osImage", absent="<unknown>"),
        kernel,
        text(info, "containerRuntimeVersion", absent="<unknown>"),
    ]


def _node_state(obj: Json, status: Json) -> str:
    ready = next((one for one in status.get("conditions") or () if one.get("type") == "Ready"), None)
    state = "Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"
    return f"{state},SchedulingDisabled" if fields(obj, "spec").get("unschedulable") else state


def _roles(labels: dict[str, str]) -> list[str]:
    named = {key.removeprefix(_ROLE_PREFIX) for key in labels if key.startswith(_ROLE_PREFIX)}
    named.add(labels.get("kubernetes.io/role", ""))
    return sorted(named - {""})


def _address(status: Json, kind: str) -> str:
    found = (one.get("address") for one in status.get("addresses") or () if one.get("type") == kind)
    return next(found, None) or "<none>"


def namespace(obj: Json, now: float) -> list[Cell]:
    return [name(obj), text(obj, "status", "phase"), age(obj, now)]


def config_map(obj: Json, now: float) -> list[Cell]:
    return [name(obj), len(obj.get("data") or ()) + len(obj.get("binaryData") or ()), age(obj, now)]


def secret(obj: Json, now: float) -> list[Cell]:
    return [name(obj), text(obj, "type"), len(obj.get("data") or ()), age(obj, now)]


def named(obj: Json, now: float) -> list[Cell]:
    return [name(obj), age(obj, now)]


def lease(obj: Json, now: float) -> list[Cell]:
    return [name(obj), text(obj, "spec", "holderIdentity"), age(obj, now)]


def event(obj: Json, now: float) -> list[Cell]:
    """Of both event APIs, which name the same things differently."""
    about = obj.get("involvedObject") or obj.get("regarding") or {}
    series = obj.get("series") or {}
    first = since(
        obj.get("firstTimestamp") or obj.get("deprecatedFirstTimestamp") or obj.get("eventTime"), now
    )
    last_seen = obj.get("lastTimestamp") or obj.get("deprecatedLastTimestamp")
    last = since(series.get("lastObservedTime") or last_seen, now)
    source = obj.get("source") or obj.get("deprecatedSource") or {}
    component = (
        source.get("component") or obj.get("reportingComponent") or obj.get("reportingController") or ""
    )
    host = source.get("host") or obj.get("reportingInstance") or ""
    kind = about.get("kind", "").lower()
    return [
        last if series or last_seen else first,
        text(obj, "type"),
        text(obj, "reason"),
        f"{kind}/{about['name']}" if about.get("name") else kind,
        text(about, "fieldPath"),
        f"{component}, {host}" if host else component,
        (obj.get("message") or obj.get("note") or "").strip(),
        first,
        series.get("count") or obj.get("count") or obj.get("deprecatedCount") or 1,
        name(obj),
    ]


def priority_class(obj: Json, now: float) -> list[Cell]:
    default = bool(obj.get("globalDefault"))
    return [name(obj), obj.get("value", 0), default, age(obj, now), text(obj, "preemptionPolicy")]


def _modes(modes: list[str] | None) -> str:
    return ",".join(short for mode, short in _ACCESS_MODES.items() if mode in (modes or ()))


def persistent_volume(obj: Json, now: float) -> list[Cell]:
    spec, claim = obj["spec"], fields(obj, "spec", "claimRef")
    phase = text(obj, "status", "phase")
    return [
        name(obj),
        text(spec, "capacity", "storage", absent="0"),
        _modes(spec.get("accessModes")),
        text(spec, "persistentVolumeReclaimPolicy"),
        "Terminating" if obj["metadata"].get("deletionTimestamp") else phase,
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        text(spec, "storageClassName"),
        text(spec, "volumeAttributesClassName", absent="<unset>"),
        text(obj, "status", "reason"),
        age(obj, now),
        text(spec, "volumeMode", absent="<unset>"),
    ]


def persistent_volume_claim(obj: Json, now: float) -> list[Cell]:
    spec, status = obj["spec"], obj.get("status") or {}
    bound = bool(spec.get("volumeName"))
    return [
        name(obj),
        "Terminating" if obj["metadata"].get("deletionTimestamp") else text(status, "phase"),
        text(spec, "volumeName"),
        text(status, "capacity", "storage", absent="0") if bound else "",
        _modes(status.get("accessModes")) if bound else "",
        text(spec, "storageClassName"),
        text(spec, "volumeAttributesClassName", absent="<unset>"),
        age(obj, now),
        text(spec, "volumeMode", absent="<unset>"),
    ]


def storage_class(obj: Json, now: float) -> list[Cell]:
    default = (obj["metadata"].get("annotations") or {}).get(_DEFAULT_CLASS) == "true"
    return [
        f"{name(obj)} (default)" if default else name(obj),
        text(obj, "provisioner"),
        text(obj, "reclaimPolicy", absent="Delete"),
        text(obj, "volumeBindingMode", absent="Immediate"),
        bool(obj.get("allowVolumeExpansion")),
        age(obj, now),
    ]


def resource_quota(obj: Json, now: float) -> list[Cell]:
    hard, used = fields(obj, "status", "hard"), fields(obj, "status", "used")
    shown = {key: f"{key}: {used.get(key, 0)}/{limit}" for key, limit in sorted(hard.items())}
    requests = ", ".join(one for key, one in shown.items() if not key.startswith("limits."))
    limits = ", ".join(one for key, one in shown.items() if key.startswith("limits."))
    return [name(obj), requests, limits, age(obj, now)]


def csi_node(obj: Json, now: float) -> list[Cell]:
    return [name(obj), len(fields(obj, "spec").get("drivers") or ()), age(obj, now)]


def runtime_class(obj: Json, now: float) -> list[Cell]:
    return [name(obj), text(obj, "handler"), age(obj, now)]


_EVENT = Printer(
    columns(
        *(
            "Last Seen",
            "Type",
            "Reason",
            "Object",
            "Subobject+",
            "Source+",
            "Message",
            "First Seen+",
            "Count+",
        ),
        Column("Name", priority=1, format="name"),
    ),
    event,
)

PRINTERS = {
    ("", "Node"): Printer(
        columns(
            NAME,
            *("Status", "Roles", "Age", "Version", "Internal-IP+", "External-IP+", "OS-Image+"),
            *("Kernel-Version+", "Container-Runtime+"),
        ),
        node,
    ),
    ("", "Namespace"): Printer(columns(NAME, "Status", "Age"), namespace),
    ("", "ConfigMap"): Printer(columns(NAME, "Data", "Age"), config_map),
    ("", "Secret"): Printer(columns(NAME, "Type", "Data", "Age"), secret),
    ("", "ServiceAccount"): Printer(columns(NAME, "Age"), named),
    ("", "Event"): _EVENT,
    ("events.k8s.io", "Event"): _EVENT,
    ("", "ResourceQuota"): Printer(columns(NAME, "Request", "Limit", "Age"), resource_quota),
    ("", "PersistentVolume"): Printer(
        columns(
            NAME,
            *("Capacity", "Access Modes", "Reclaim Policy", "Status", "Claim", "StorageClass"),
            *("VolumeAttributesClass", "Reason", "Age", "VolumeMode+"),
        ),
        persistent_volume,
    ),
    ("", "PersistentVolumeClaim"): Printer(
        columns(
            NAME,
            *("Status", "Volume", "Capacity", "Access Modes", "StorageClass", "VolumeAttributesClass"),
            *("Age", "VolumeMode+"),
        ),
        persistent_volume_claim,
    ),
    ("storage.k8s.io", "StorageClass"): Printer(
        columns(NAME, "Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"),
        storage_class,
    ),
    ("storage.k8s.io", "CSINode"): Printer(columns(NAME, "#Drivers", "Age"), csi_node),
    ("node.k8s.io", "RuntimeClass"): Printer(columns(NAME, "Handler", "Age"), runtime_class),
    ("scheduling.k8s.io", "PriorityClass"): Printer(
        columns(NAME, "#Value", "?Global-Default", "Age", "PreemptionPolicy"), priority_class
    ),
    ("coordination.k8s.io", "Lease"): Printer(columns(NAME, "Holder", "Age"), lease),
}
