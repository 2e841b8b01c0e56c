"""What a kind's rules see (`Subject`) and what they answer (`Shape`); `grouper` makes and reads them.

Also the settings and the surroundings of grouping, both handed in by the caller.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from quorate.api import labels
from quorate.api.core import Pod
from quorate.api.podgroup import SubGroup, TopologyConstraint
from quorate.api.shipped import DEFAULT_QUEUE
from quorate.grouping.defaults import KindDefaults
from quorate.grouping.errors import NotFetchedError
from quorate.grouping.objects import Address, Objects, Owner, Unreadable, owner_from_json


@dataclass(frozen=True, slots=True)
class Extensions:
    """Kinds and wrappers beyond those we know, by group and kind; a kind that stands here wins over the table."""

    kinds: "Mapping[tuple[str, str], Rules]" = field(default_factory=dict)
    wrappers: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Settings:
    """How an installation is set up."""

    scheduler_names: frozenset[str] = frozenset({"quorate"})
    queue_label: str = labels.QUEUE
    node_pool_label: str = labels.NODE_POOL
    default_queue: str = DEFAULT_QUEUE
    knative_gangs: bool = True
    extensions: Extensions = field(default_factory=Extensions)


@dataclass(frozen=True, slots=True)
class Context:
    """What grouping may look at besides the pods."""

    objects: Objects = field(default_factory=dict)
    priority_classes: frozenset[str] = frozenset()
    settings: Settings = field(default_factory=Settings)
    defaults: KindDefaults = field(default_factory=KindDefaults)

    def find(self, address: Address) -> Owner | None:
        """An object other than an owner; None if it does not exist or may not be read."""
        found = self.objects.get(address.key)
        if found is None:
            raise NotFetchedError(address)
        return None if isinstance(found, Unreadable) else owner_from_json(found, address.namespace)


class Peers:
    """The pods of a workload: those that are grouped, and `beside` them others that exist but are not.

    `were_read` tells whether the answer about one pod depends on the others, since it was last set to False.
    """

    def __init__(self, pods: tuple[Pod, ...], beside: tuple[Pod, ...] = ()) -> None:
        self._pods = pods
        self._beside = beside
        self.were_read = False

    @property
    def pods(self) -> tuple[Pod, ...]:
        self.were_read = True
        return self._pods

    @property
    def beside(self) -> tuple[Pod, ...]:
        self.were_read = True
        return self._beside


@dataclass(frozen=True, slots=True)
class Subject:
    """One pod with the owner whose kind decides, and the pods of the same owner."""

    pod: Pod
    owner: Owner
    chain: tuple[Owner, ...]
    peers: Peers
    context: Context

    def label(self, name: str) -> str:
        return self.pod.metadata.label(name)

    def annotation(self, name: str) -> str:
        return self.pod.metadata.annotation(name)


@dataclass(frozen=True, slots=True)
class Shape:
    """The gang a pod belongs to, as its kind sees it; the fields that all kinds share are derived later.

    `owner` is whom the PodGroup belongs to, `source` whose labels and annotations it takes over, `described`
    who is named as top owner. `priority` was asked for in the kind's own way and comes before all else, unchecked;
    `asked_priority` comes after the labels of owners, `asked_queue` after all labels. `constraint` is the kind's
    own way to say what topology annotations say, `composite` the CompositePodGroup it starts with.
    """

    name: str
    owner: Owner
    source: Owner
    described: Owner
    min_member: int | None = 1
    min_sub_group: int | None = None
    sub_groups: tuple[SubGroup, ...] = ()
    sub_group: str = ""
    priority: str = ""
    default_priority: str = "train"
    chain: tuple[Owner, ...] = ()
    warnings: tuple[str, ...] = ()
    asked_priority: str = ""
    asked_queue: str = ""
    constraint: TopologyConstraint | None = None
    composite: str = ""


Rules = Callable[[Subject], Shape]


def plain(subject: Subject) -> Shape:
    """The shape most kinds start from: one gang per owner, one member needed."""
    owner = subject.owner
    return Shape(
        name=f"pg-{owner.name}-{owner.uid}",
        owner=owner,
        source=owner,
        described=owner,
        chain=(owner,),
    )
