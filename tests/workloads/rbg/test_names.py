"""Names and addresses."""

import msgspec

from quorate.api.rbg import Role, ServicePort
from quorate.workloads.rbg.names import port_key, service_name, service_selection, workload_name


def test_long_names_are_cut_and_never_end_in_a_dash() -> None:
    assert workload_name("g", "r") == "g-r"
    assert workload_name("a" * 62, "b") == "a" * 62
    assert service_name("a" * 40, "b" * 40) == f"s-{'a' * 40}-{'b' * 20}"


def test_ports_are_listed_under_names_that_variables_can_have() -> None:
    assert port_key(ServicePort(name="HTTP-Main", port=80)) == "http_main"
    assert port_key(ServicePort(port=80)) == "port80"


def _role(**fields: object) -> Role:
    return msgspec.convert({"name": "r", **fields}, Role)


def test_a_service_selects_leaders_where_an_instance_has_one() -> None:
    set_of_leaders = {
        "rbg.workloads.x-k8s.io/role-workload-type": "leaderworkerset.x-k8s.io/v1/LeaderWorkerSet"
    }
    assert service_selection(_role()) == "All"
    assert service_selection(_role(leaderWorkerPattern={})) == "LeaderOnly"
    assert service_selection(_role(leaderWorkerPattern={"sharedServiceSelection": "All"})) == "All"
    assert service_selection(_role(leaderWorkerPattern={}, annotations=set_of_leaders)) == "All"
