"""Fake nodes from a short text: `32x8gpu,rack=8,block=16` is 32 nodes of 8 GPUs, 8 to a rack, 16 to a block.

`node_shapes` reads the text, `nodes_of` makes the Node objects; the cluster creates them, `kubelet.py` acts
for them, `builtins/heartbeats.py` keeps them alive.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise

from quorate.api.labels import GPU_RESOURCE, HOSTNAME
from quorate.api.meta import Json
from quorate.api.quantity import milli

ZONE, BLOCK, RACK = "topology.kubernetes.io/zone", "quorate.dev/block", "quorate.dev/rack"
_LEVELS = (("zone", ZONE), ("block", BLOCK), ("rack", RACK))
_HEAD = re.compile(r"(\d+)x(\d+)gpu")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?")
_MOST_NODES = 20_000
_FORM = 'COUNTxGPUSgpu[,key=value…], as in "32x8gpu,rack=8,block=16"'


class ShapeError(ValueError):
    """A text is no node shape."""


@dataclass(frozen=True, slots=True)
class NodeShape:
    """A run of equal nodes; `rack`, `block` and `zone` count nodes in one domain, 0 = no such label."""

    count: int
    gpus: int
    cpu: str = "96"
    memory: str = "1024Gi"
    pods: int = 250
    product: str = "NVIDIA-H100-80GB-HBM3"
    name: str = "node"
    rack: int = 0
    block: int = 0
    zone: int = 0


def node_shapes(text: str) -> tuple[NodeShape, ...]:
    """Shapes stand one after another, parted by `+` or spaces."""
    parts = [part for part in re.split(r"[+\s]+", text.strip()) if part]
    if not parts:
        raise ShapeError(f"no node shape given: write {_FORM}")
    shapes = tuple(_shape(part) for part in parts)
    total = sum(shape.count for shape in shapes)
    if total > _MOST_NODES:
        raise ShapeError(
            f"{total} nodes are more than the {_MOST_NODES} that are supported: lower the counts"
        )
    return shapes


def _shape(text: str) -> NodeShape:
    head, *settings = text.split(",")
    found = _HEAD.fullmatch(head)
    if found is None:
        raise ShapeError(f'"{head}" does not say how many nodes of how many GPUs: write {_FORM}')
    shape = NodeShape(int(found[1]), int(found[2]))
    if not shape.count:
        raise ShapeError(f'"{head}": the number of nodes must be at least 1')
    for setting in settings:
        shape = _set(shape, setting)
    _check_nesting(shape, text)
    return shape


def _set(shape: NodeShape, setting: str) -> NodeShape:
    key, _, value = setting.partition("=")
    readers: dict[str, Callable[[str, str], int | str]] = {
        **dict.fromkeys(("rack", "block", "zone", "pods"), _count),
        **dict.fromkeys(("cpu", "memory"), _quantity),
        "name": _name,
        "product": lambda _, text: text,
    }
    if key in readers and value:
        return NodeShape(**{**asdict(shape), key: readers[key](key, value)})
    known = "rack, block, zone, pods, cpu, memory, product, name"
    raise ShapeError(f'"{setting}" is not a setting of a node shape: write key=value with one of {known}')


def _name(key: str, value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ShapeError(f'{key}="{value}": write lower-case letters, digits and "-"')
    return value


def _count(key: str, value: str) -> int:
    if not value.isdigit() or not int(value):
        raise ShapeError(f'{key}="{value}": write a whole number of at least 1')
    return int(value)


def _quantity(key: str, value: str) -> str:
    try:
        milli(value)
    except ValueError as error:
        raise ShapeError(f"{key}: {error}") from error
    return value


def _check_nesting(shape: NodeShape, text: str) -> None:
    """A smaller domain must not straddle two larger ones."""
    sizes = [(name, getattr(shape, name)) for name, _ in reversed(_LEVELS) if getattr(shape, name)]
    for (small, inner), (large, outer) in pairwise(sizes):
        if outer % inner:
            raise ShapeError(f'"{text}": {large}={outer} is not a multiple of {small}={inner}')


def nodes_of(shapes: Iterable[NodeShape]) -> Iterator[Json]:
    """Node objects; domains are numbered on through all shapes, nodes through those of one name."""
    numbers: dict[str, int] = {}
    domains = dict.fromkeys(("rack", "block", "zone"), 0)
    index = 0
    for shape in shapes:
        for place in range(shape.count):
            number = numbers.get(shape.name, 0)
            numbers[shape.name] = number + 1
            yield _node(shape, f"{shape.name}-{number}", index, _labels(shape, place, domains))
            index += 1
        for level in domains:
            size = getattr(shape, level)
            domains[level] += -(-shape.count // size) if size else 0


def _labels(shape: NodeShape, place: int, domains: dict[str, int]) -> dict[str, str]:
    labels = {}
    for level, key in _LEVELS:
        size = getattr(shape, level)
        if size:
            labels[key] = f"{level}-{domains[level] + place // size}"
    return labels


def _node(shape: NodeShape, name: str, index: int, topology: dict[str, str]) -> Json:
    gpu = (
        {"nvidia.com/gpu.product": shape.product, "nvidia.com/gpu.count": str(shape.gpus)}
        if shape.gpus
        else {}
    )
    labels = {
        HOSTNAME: name,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        **topology,
        **gpu,
    }
    capacity = {"cpu": shape.cpu, "ephemeral-storage": "1Ti", "memory": shape.memory, "pods": str(shape.pods)}
    if shape.gpus:
        capacity[GPU_RESOURCE] = str(shape.gpus)
    number = index + 2
    network = f"10.{64 + index // 256}.{index % 256}.0/24"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": {"quorate.dev/fake-node": "true"}},
        "spec": {"podCIDR": network, "podCIDRs": [network], "providerID": f"quorate://{name}"},
        "status": {
            "capacity": capacity,
            "allocatable": dict(capacity),
            "addresses": [
                {
                    "type": "InternalIP",
                    "address": f"172.{16 + number // 65536}.{number // 256 % 256}.{number % 256}",
                },
                {"type": "Hostname", "address": name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": _system(name),
        },
    }


def _system(name: str) -> Json:
    return {
        "architecture": "amd64",
        "bootID": f"boot-{name}",
        "containerRuntimeVersion": "quorate://0.1.0",
        "kernelVersion": "6.1.0-quorate",
        "kubeProxyVersion": "",
        "kubeletVersion": "v1.37.0",
        "machineID": f"machine-{name}",
        "operatingSystem": "linux",
        "osImage": "Quorate fake node",
        "systemUUID": f"system-{name}",
    }
