"""Names and addresses of what a group is made of; long ones are cut to what a DNS label holds."""

from quorate.api import labels
from quorate.api.rbg import Role, ServicePort

LONGEST = 63
ENGINE_WITH_LEADERS = "RoleInstanceSet"


def workload_name(group: str, role: str) -> str:
    return _cut(f"{group}-{role}")


def service_name(group: str, role: str) -> str:
    return _cut(f"s-{group}-{role}")


def address(workload: str, instance: int, service: str) -> str:
    """Where an instance, or the leader of one, is found inside its namespace."""
    return f"{workload}-{instance}.{service}"


def port_key(port: ServicePort) -> str:
    """Under which name the discovery file lists a port."""
    return port.name.lower().replace("-", "_") if port.name else f"port{port.port}"


def service_selection(role: Role) -> str:
    """Which pods the Service of a role selects: what it says, else leaders, where upstream knows leaders."""
    pattern = role.leader_worker_pattern
    if pattern is None:
        return "All"
    engine = (role.annotations or {}).get(labels.RBG_ENGINE, ENGINE_WITH_LEADERS)
    default = "LeaderOnly" if engine.rpartition("/")[2] == ENGINE_WITH_LEADERS else "All"
    return pattern.shared_service_selection or default


def _cut(name: str) -> str:
    return name[:LONGEST].rstrip("-")
