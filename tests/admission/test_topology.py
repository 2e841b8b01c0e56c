from quorate.admission.topology import review
from quorate.api.topology import Topology, TopologyLevel, TopologySpec


def topology(*levels: str | tuple[str, str]) -> Topology:
    pairs = [level if isinstance(level, tuple) else (level, "") for level in levels]
    return Topology(
        spec=TopologySpec(levels=[TopologyLevel(node_label=name, alias=alias) for name, alias in pairs])
    )


def messages(new: Topology, old: Topology | None = None) -> list[str]:
    return [str(fault) for fault in review(new, old).errors]


def test_sound_levels_pass() -> None:
    assert messages(topology("x/zone", ("x/rack", "rack"), "kubernetes.io/hostname")) == []


def test_levels_are_needed() -> None:
    assert messages(Topology()) == ["spec.levels: 0 levels are given: write 1 to 16, the widest first"]


def test_names_are_unique_across_labels_and_aliases() -> None:
    assert messages(topology(("a", "b"), "b")) == ['spec.levels[0].alias: "b" is the node label of a level']
    assert messages(topology("a", "a"))[0] == 'spec.levels[0].nodeLabel: "a" stands at two levels'


def test_the_host_is_the_last_level() -> None:
    assert messages(topology("kubernetes.io/hostname", "a")) == [
        "spec.levels[0].nodeLabel: kubernetes.io/hostname must be the last level"
    ]


def test_levels_do_not_change() -> None:
    assert messages(topology("a"), topology("b")) == [
        "spec.levels: levels are immutable: make a new Topology and let workloads name it"
    ]
