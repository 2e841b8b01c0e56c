from quorate.admission.podgroup import review
from quorate.admission.surroundings import Surroundings
from quorate.api.labels import TOPOLOGY
from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import PodGroup, PodGroupSpec, PodGroupStatus, SubGroup, TopologyConstraint
from quorate.api.queue import Queue, QueueSpec
from quorate.api.topology import Topology, TopologyLevel, TopologySpec
from quorate.rules.validity import Findings

RACKS = Topology(
    metadata=ObjectMeta(name="dc"),
    spec=TopologySpec(levels=[TopologyLevel(node_label="x/zone"), TopologyLevel(node_label="x/rack")]),
)
AROUND = Surroundings(
    queues={"org": Queue(), "team": Queue(spec=QueueSpec(parent_queue="org"))},
    topologies={"dc": RACKS},
    priority_classes={},
)


def gang(minimum: int = 2, *, level: str = "", topology: str = "", queue: str = "team") -> PodGroup:
    constraint = TopologyConstraint(topology=topology, required_topology_level=level)
    leaf = SubGroup(name="w", min_member=minimum, topology_constraint=constraint)
    return PodGroup(spec=PodGroupSpec(sub_groups=[leaf], queue=queue))


def errors(found: Findings) -> list[str]:
    return [str(fault) for fault in found.errors]


def warnings(found: Findings) -> list[str]:
    return [str(fault) for fault in found.warnings]


def test_a_sound_gang_passes_without_a_word() -> None:
    assert review(gang(level="rack"), None, AROUND) == ((), ())


def test_every_wrong_value_is_named() -> None:
    spec = PodGroupSpec(
        preemptibility="never", preemption_delay="-5s", staleness_grace_period="soon", scheduling_backoff=3
    )
    assert errors(review(PodGroup(spec=spec))) == [
        'spec.preemptibility: "never" is not one of preemptible, non-preemptible, semi-preemptible',
        'spec.preemptionDelay: "-5s" is negative: write a duration of at least 0s',
        'spec.stalenessGracePeriod: "soon" is not a duration: write numbers with units, as in "90s" or "1h30m"',
        "spec.schedulingBackoff: 3 means nothing: write -1 (never) or 1 (after the first failure)",
    ]


def test_an_unknown_level_lists_the_known() -> None:
    assert warnings(review(gang(level="row"), None, AROUND)) == [
        ('spec.subGroups[0].topologyConstraint.requiredTopologyLevel: level "row" is not in topology dc: '
        "its levels are x/zone, x/rack")
    ]  # fmt: skip


def test_the_annotation_names_the_topology_of_all_groups() -> None:
    group = gang(level="rack")
    group.metadata.annotations = {TOPOLOGY: "other"}
    assert warnings(review(group, None, AROUND)) == [
        'spec.subGroups[0].topologyConstraint.topology: topology "other" does not exist: the cluster has dc'
    ]


def test_queues_that_take_no_gangs_are_named() -> None:
    assert warnings(review(gang(queue="gone"), None, AROUND)) == [
        'spec.queue: queue "gone" does not exist: the cluster has org, team'
    ]
    assert warnings(review(gang(queue="org"), None, AROUND)) == [
        'spec.queue: queue "org" has child queues, so it takes no gangs: name one of them'
    ]


def test_a_minimum_raised_on_a_running_gang_warns() -> None:
    old = gang(2)
    old.status = PodGroupStatus(phase="Running")
    assert warnings(review(gang(4), old, AROUND)) == [
        'group "w".minMember: raised from 2 to 4 on a running gang: it must hold before the grace is over'
    ]
    assert warnings(review(gang(1), old, AROUND)) == []


def test_nothing_is_said_about_what_is_not_known() -> None:
    assert review(gang(level="row", queue="gone")) == ((), ())
