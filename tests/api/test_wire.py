import msgspec

from quorate.api.core import Node, Pod
from quorate.api.podgroup import PodGroup
from quorate.api.rbg import RoleBasedGroup
from quorate.api.topology import Topology, TopologyLevel, TopologySpec


def test_null_lists_and_unknown_fields_decode() -> None:
    text = b'{"spec":{"containers":null,"tolerations":null,"novel":{"a":1}},"status":{"phase":"Running"}}'
    pod = msgspec.json.decode(text, type=Pod)
    assert pod.spec.containers is None
    assert pod.status.phase == "Running"


def test_affinity_is_read_by_its_long_wire_names() -> None:
    required: dict[str, object] = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}
    }
    affinity = msgspec.convert({"spec": {"affinity": {"nodeAffinity": required}}}, Pod).spec.affinity
    assert affinity is not None
    assert affinity.node_affinity is not None
    assert affinity.node_affinity.required is not None


def test_numbers_are_quantities_too() -> None:
    node = msgspec.json.decode(b'{"status":{"allocatable":{"cpu":4,"memory":"1Gi"}}}', type=Node)
    assert node.status.allocatable == {"cpu": 4, "memory": "1Gi"}


def test_an_invalid_value_decodes_so_that_admission_can_name_it() -> None:
    group = msgspec.json.decode(b'{"spec":{"minMember":-1,"preemptibility":"never"}}', type=PodGroup)
    assert (group.spec.min_member, group.spec.preemptibility) == (-1, "never")


def test_segments_are_read_as_the_design_writes_them() -> None:
    text = (
        b'{"spec":{"roles":[{"name":"prefill","replicas":100}],"coordinationRequirements":'
        b'[{"strategy":{"segmentPlacement":{"segmentSize":{"prefill":10}}}}]}}'
    )
    group = msgspec.json.decode(text, type=RoleBasedGroup)
    assert group.spec.coordination_requirements is not None
    placement = group.spec.coordination_requirements[0].strategy.segment_placement
    assert placement is not None
    assert placement.segment_size == {"prefill": 10}
    assert placement.progression == "OrderedReady"


def test_a_level_is_found_by_label_alias_and_last_part() -> None:
    levels = [TopologyLevel(node_label="example.com/rack", alias="r"), TopologyLevel(node_label="x/zone")]
    topology = Topology(spec=TopologySpec(levels=levels))
    assert topology.label("r") == "example.com/rack"
    assert topology.label("example.com/rack") == "example.com/rack"
    assert topology.label("zone") == "x/zone"
    assert topology.label("block") is None
