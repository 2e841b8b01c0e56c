"""How the pods of a group find each other: environment, a file of addresses, a headless Service for each role.

Nothing in a pod says how many instances there are, for that would make it again whenever one is added; the file
does, and it lists what is told to exist, not what is wanted in the end.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quorate.api import labels
from quorate.api.core import CONFIG_MAP, SERVICE
from quorate.api.meta import Json
from quorate.plan import Apply
from quorate.workloads.lws.environment import in_containers
from quorate.workloads.rbg.environment import merged
from quorate.workloads.rbg.group import Group, Role
from quorate.workloads.rbg.names import address, port_key, service_name, workload_name
from quorate.workloads.rbg.objects import owned

FILE, FOLDER, VOLUME = "config.yaml", "/etc/rbg", "rbg-config"


def with_discovery(group: Group, role: Role, spec: Json, component: str = "") -> Json:
    """The pod spec with the environment and the file."""
    variables = [*_variables(group, role, component)]
    mount = {"name": VOLUME, "mountPath": FOLDER, "readOnly": True}

    def completed(container: Json) -> Json:
        mounts = [one for one in container.get("volumeMounts") or () if one.get("name") != VOLUME]
        env = merged(container.get("env") or (), variables)
        return {**container, "env": env, "volumeMounts": [*mounts, mount]}

    volume = {"name": VOLUME, "configMap": {"name": group.name}}
    volumes = [one for one in spec.get("volumes") or () if one.get("name") != VOLUME]
    return {**in_containers(spec, completed), "volumes": [*volumes, volume]}


def _variables(group: Group, role: Role, component: str) -> Iterator[Json]:
    """What differs from pod to pod is read from the labels that every pod of a LeaderWorkerSet has."""
    workload = workload_name(group.name, role.name)
    yield {"name": "RBG_GROUP_NAME", "value": group.name}
    yield {"name": "RBG_ROLE_NAME", "value": role.name}
    yield _from_label("RBG_ROLE_INDEX", labels.LWS_GROUP_INDEX)
    yield {"name": "RBG_ROLE_INSTANCE_NAME", "value": f"{workload}-$(RBG_ROLE_INDEX)"}
    if not component:
        return
    yield {"name": "RBG_COMPONENT_NAME", "value": component}
    yield _from_label("RBG_COMPONENT_INDEX", labels.LWS_WORKER_INDEX)
    yield {"name": "RBG_LWP_LEADER_ADDRESS", "value": f"$(RBG_ROLE_INSTANCE_NAME).{workload}"}
    yield _from_label("RBG_LWP_WORKER_INDEX", labels.LWS_WORKER_INDEX)
    yield {"name": "RBG_LWP_GROUP_SIZE", "value": str(role.size)}


def _from_label(name: str, label: str) -> Json:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{label}']"}}}


def file_of(group: Group, replicas: Mapping[str, int]) -> Apply:
    """The ConfigMap; an instance's address is that of its pod, or of its leader."""
    lines = ["group:", f"  name: {_text(group.name)}", f"  size: {len(group.roles)}", "  roles:"]
    lines += [f"  - {_text(role.name)}" for role in group.roles]
    lines += ["roles:"]
    for role in group.roles:
        lines += _role(group, role, replicas[role.name])
    return owned(group.owner, CONFIG_MAP, group.name, data={FILE: "\n".join([*lines, ""])})


def _role(group: Group, role: Role, count: int) -> Iterator[str]:
    """YAML by hand, because a YAML writer takes longer than all the rest of a pass."""
    workload = workload_name(group.name, role.name)
    yield f"  {_text(role.name)}:"
    yield f"    size: {count}"
    yield "    instances:" if count else "    instances: []"
    for index in range(count):
        yield f"    - address: {_text(address(workload, index, workload))}"
        if role.ports:
            yield "      ports:"
            yield from (f"        {_text(port_key(port))}: {port.port}" for port in role.ports)


def _text(value: str) -> str:
    """Names may look like numbers or booleans: JSON's quotes are YAML's too."""
    return msgspec.json.encode(value).decode()


def services_of(group: Group) -> Iterator[Apply]:
    """Addresses are published before pods are ready: they find each other while they start."""
    for role in group.roles:
        selector = {labels.RBG_GROUP_NAME: group.name, labels.RBG_ROLE_NAME: role.name}
        if role.serves_leader_only and role.size > 1:
            selector[labels.RBG_COMPONENT_NAME] = "leader"
        spec: Json = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector}
        if role.ports:
            spec["ports"] = [_port(each) for each in msgspec.to_builtins(role.ports)]
        named = {"labels": {labels.RBG_ROLE_NAME: role.name}}
        yield owned(group.owner, SERVICE, service_name(group.name, role.name), metadata=named, spec=spec)


def _port(port: dict[str, Any]) -> Json:
    return {"name": port.get("name") or f"port{port['port']}", "protocol": "TCP", **port}
