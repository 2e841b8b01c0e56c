"""Names, addresses and the discovery file."""

import msgspec

from quorate.api.rbg import Role, ServicePort
from quorate.workloads.rbg.names import discovery, port_key, service_name, service_selection, workload_name


def test_long_names_are_cut_and_never_end_in_a_dash() -> None:
    assert workload_name("g", "r") == "g-r"
    assert workload_name("a" * 62, "b") == "a" * 62
    assert service_name("a" * 40, "b" * 40) == f"s-{'a' * 40}-{'b' * 20}"


def test_the_discovery_file_lists_every_instance_with_its_ports() -> None:
    ports = [ServicePort(name="HTTP-Main", port=80), ServicePort(port=9)]
    assert discovery("g", [("prefill", 2, ports), ("decode", 0, ())]) == {
        "group": {"name": "g", "size": 2, "roles": ["prefill", "decode"]},
        "roles": {
            "prefill": {
                "size": 2,
                "instances": [
                    {"address": "g-prefill-0.s-g-prefill", "ports": {"http_main": 80, "port9": 9}},
                    {"address": "g-prefill-1.s-g-prefill", "ports": {"http_main": 80, "port9": 9}},
                ],
            },
            "decode": {"size": 0, "instances": []},
        },
    }
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
