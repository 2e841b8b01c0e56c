import pytest

from quorate.embedded.nodes import NodeShape, ShapeError, node_shapes, nodes_of


def test_one_shape_with_its_topology() -> None:
    assert node_shapes("32x8gpu,rack=8,block=16") == (NodeShape(32, 8, rack=8, block=16),)


def test_several_shapes_are_numbered_on() -> None:
    nodes = list(nodes_of(node_shapes("4x8gpu,rack=2 + 2x0gpu,rack=2,cpu=32,memory=128Gi,name=cpu")))
    assert [node["metadata"]["name"] for node in nodes][-3:] == ["node-3", "cpu-0", "cpu-1"]
    racks = [node["metadata"]["labels"]["quorate.dev/rack"] for node in nodes]
    assert racks == ["rack-0", "rack-0", "rack-1", "rack-1", "rack-2", "rack-2"]
    assert nodes[-1]["status"]["allocatable"]["cpu"] == "32"
    assert "nvidia.com/gpu" not in nodes[-1]["status"]["allocatable"]
    assert len({node["spec"]["podCIDR"] for node in nodes}) == 6


def test_every_level_becomes_a_label() -> None:
    (first, *_, last) = nodes_of(node_shapes("8x4gpu,rack=2,block=4,zone=8"))
    assert first["metadata"]["labels"]["topology.kubernetes.io/zone"] == "zone-0"
    assert last["metadata"]["labels"]["quorate.dev/block"] == "block-1"
    assert last["metadata"]["labels"]["kubernetes.io/hostname"] == "node-7"
    assert last["metadata"]["labels"]["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no node shape given"),
        ("32", '"32" does not say how many nodes of how many GPUs'),
        ("0x8gpu", "the number of nodes must be at least 1"),
        ("4x8gpu,rack=two", 'rack="two": write a whole number of at least 1'),
        ("4x8gpu,row=2", '"row=2" is not a setting of a node shape'),
        ("4x8gpu,rack=3,block=4", "block=4 is not a multiple of rack=3"),
        ("4x8gpu,memory=lots", "memory: "),
        ("4x8gpu,name=Node_1", 'name="Node_1": write lower-case letters'),
        ("99999x8gpu", "99999 nodes are more than"),
    ],
)
def test_bad_shapes_say_what_to_write(text: str, message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        node_shapes(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
