"""Rules of containers: names, images, ports, environment, mounts, resources."""

import re
from collections.abc import Collection

from quorate.api.meta import Json
from quorate.embedded.causes import Cause, duplicate, forbidden, invalid, not_found, not_supported, required
from quorate.embedded.quantities import NANO, nanos
from quorate.embedded.validation import names

_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_STANDARD = frozenset(("cpu", "memory", "ephemeral-storage"))
_NO_PROBES = "may not be set for init containers without restartPolicy=Always"
_SIDECAR_ONLY = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
PORT_RANGE = "must be between 1 and 65535, inclusive"
_NOT_FOR_CONTAINERS = "must be a standard resource for containers"
_ENV_NAME = "a valid environment variable name must consist only of printable ASCII characters other than '='"
_ENV_SOURCE = (
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
)
NEGATIVE = "must be greater than or equal to 0"


def containers(found: list[Cause], spec: Json, path: str) -> None:
    """The regular and init containers of a pod spec."""
    volumes = frozenset(volume.get("name", "") for volume in spec.get("volumes") or ())
    regular = spec.get("containers")
    if not regular:
        found.append(required(f"{path}.containers"))
    taken: set[str] = set()
    for index, one in enumerate(regular or ()):
        _container(found, one, f"{path}.containers[{index}]", volumes)
        _unique_name(found, one, f"{path}.containers[{index}]", taken)
    for index, one in enumerate(spec.get("initContainers") or ()):
        where = f"{path}.initContainers[{index}]"
        _container(found, one, where, volumes)
        _unique_name(found, one, where, taken)
        if one.get("restartPolicy") != "Always":
            found += [forbidden(f"{where}.{field}", _NO_PROBES) for field in _SIDECAR_ONLY if one.get(field)]


def _unique_name(found: list[Cause], container: Json, path: str, taken: set[str]) -> None:
    name = container.get("name", "")
    if name in taken:
        found.append(duplicate(f"{path}.name", name))
    elif name:
        taken.add(name)


def _container(found: list[Cause], container: Json, path: str, volumes: Collection[str]) -> None:
    name = container.get("name")
    if not name:
        found.append(required(f"{path}.name"))
    elif names.dns_label(name):
        found += [invalid(f"{path}.name", name, message) for message in names.dns_label(name)]
    if not container.get("image"):
        found.append(required(f"{path}.image"))
    policy = container.get("terminationMessagePolicy")
    if policy not in _MESSAGE_POLICIES:
        found.append(not_supported(f"{path}.terminationMessagePolicy", policy, _MESSAGE_POLICIES))
    if container.get("ports"):
        _ports(found, container["ports"], f"{path}.ports")
    if container.get("env"):
        _environment(found, container["env"], f"{path}.env")
    if container.get("volumeMounts"):
        _mounts(found, container["volumeMounts"], f"{path}.volumeMounts", volumes)
    policy = container.get("imagePullPolicy")
    if policy not in _PULL_POLICIES:
        found.append(not_supported(f"{path}.imagePullPolicy", policy, _PULL_POLICIES))
    if container.get("resources"):
        resources(found, container["resources"], f"{path}.resources")


def _ports(found: list[Cause], ports: list[Json], path: str) -> None:
    taken: set[str] = set()
    for index, port in enumerate(ports):
        where = f"{path}[{index}]"
        name = port.get("name")
        if name and names.port_name(name):
            found += [invalid(f"{where}.name", name, message) for message in names.port_name(name)]
        elif name and name in taken:
            found.append(duplicate(f"{where}.name", name))
        elif name:
            taken.add(name)
        number = port.get("containerPort")
        if not number:
            found.append(required(f"{where}.containerPort"))
        elif not 1 <= number <= 65535:
            found.append(invalid(f"{where}.containerPort", number, PORT_RANGE))
        host_port = port.get("hostPort")
        if host_port and not 1 <= host_port <= 65535:
            found.append(invalid(f"{where}.hostPort", host_port, PORT_RANGE))
        if port.get("protocol") not in _PROTOCOLS:
            found.append(not_supported(f"{where}.protocol", port.get("protocol"), _PROTOCOLS))


def _environment(found: list[Cause], entries: list[Json], path: str) -> None:
    for index, entry in enumerate(entries):
        if not entry.get("name"):
            found.append(required(f"{path}[{index}].name"))
        elif not re.fullmatch(r"[ -<>-~]+", entry["name"]):
            found.append(invalid(f"{path}[{index}].name", entry["name"], _ENV_NAME))
        source = entry.get("valueFrom")
        if source is not None and entry.get("value"):
            detail = "may not be specified when `value` is not empty"
            found.append(invalid(f"{path}[{index}].valueFrom", "", detail))
        elif source is not None and not source:
            found.append(invalid(f"{path}[{index}].valueFrom", "", _ENV_SOURCE))


def _mounts(found: list[Cause], mounts: list[Json], path: str, volumes: Collection[str]) -> None:
    taken: set[str] = set()
    for index, mount in enumerate(mounts):
        where = f"{path}[{index}]"
        name, target = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            found.append(required(f"{where}.name"))
        if name not in volumes:
            found.append(not_found(f"{where}.name", name))
        if not target:
            found.append(required(f"{where}.mountPath"))
        if target in taken:
            found.append(invalid(f"{where}.mountPath", target, "must be unique"))
        taken.add(target)


def resources(found: list[Cause], asked: Json, path: str) -> None:
    limits, requests = asked.get("limits") or {}, asked.get("requests") or {}
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            _amount(found, name, amount, f"{path}.{field}[{name}]")
    for name, request in requests.items():
        if name in limits:
            if request != limits[name]:
                _within(found, name, (request, limits[name]), f"{path}.requests")
        elif not _may_overcommit(name):
            found.append(required(f"{path}.limits", "Limit must be set for non overcommitable resources"))
    named = limits.keys() | requests.keys()
    if any(name.startswith("hugepages-") for name in named) and not named & {"cpu", "memory"}:
        found.append(forbidden(path, "HugePages require cpu or memory"))


def _within(found: list[Cause], name: str, pair: tuple[str, str], path: str) -> None:
    request, limit = pair
    try:
        excess = nanos(request) - nanos(limit)
    except ValueError:
        return  # said for the amount itself
    if excess and not _may_overcommit(name):
        found.append(invalid(path, request, f"must be equal to {name} limit of {limit}"))
    elif excess > 0:
        found.append(invalid(path, request, f"must be less than or equal to {name} limit of {limit}"))


def _amount(found: list[Cause], name: str, amount: str, path: str) -> None:
    found += [invalid(path, name, message) for message in _resource_name(name)]
    quantity(found, amount, path, whole=name not in _STANDARD and "/" in name)


def quantity(found: list[Cause], amount: str, path: str, *, whole: bool = False) -> None:
    """A quantity of zero or more; `whole` asks for an integer."""
    try:
        size = nanos(str(amount))
    except ValueError as refusal:
        found.append(invalid(path, amount, str(refusal)))
        return
    if size < 0:
        found.append(invalid(path, amount, NEGATIVE))
    if whole and size % NANO:
        found.append(invalid(path, amount, "must be an integer"))
    if size >= 2**63 * NANO:
        found.append(invalid(path, amount, "must be less than 2^63"))


def _resource_name(name: str) -> names.Messages:
    found = names.label_key(name)
    if "/" in name:
        # As a quota the name gets a prefix, so it may be that much shorter.
        foreign = "kubernetes.io/" not in name
        broken = foreign and (name.startswith("requests.") or names.label_key(f"requests.{name}"))
        return (*found, "doesn't follow extended resource name standard") if broken else found
    if name in _STANDARD or name.startswith("hugepages-"):
        return found
    return (*(found or ("must be a standard resource type or fully qualified",)), _NOT_FOR_CONTAINERS)


def _may_overcommit(name: str) -> bool:
    return ("/" not in name or "kubernetes.io/" in name) and not name.startswith("hugepages-")
