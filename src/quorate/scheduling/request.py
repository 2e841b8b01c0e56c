"""What a pod of one shape asks of a node, as plain values; `encode` makes them, `fit` reads them.

Two pods have the same shape exactly when their requests are equal: whatever the filters read is in here.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str
    effect: str  # NoSchedule, PreferNoSchedule, NoExecute


@dataclass(frozen=True, slots=True)
class Toleration:
    key: str = ""  # "" with operator Exists tolerates everything
    operator: str = "Equal"
    value: str = ""
    effect: str = ""  # "" = every effect


@dataclass(frozen=True, slots=True)
class Expression:
    """One test on a label: In, NotIn, Exists, DoesNotExist, Gt, Lt.

    The key `metadata.name` reads the name of the node.
    """

    key: str
    operator: str
    values: tuple[str, ...] = ()


Term = tuple[Expression, ...]  # all must hold


@dataclass(frozen=True, slots=True)
class Preference:
    weight: int
    term: Term


@dataclass(frozen=True, slots=True)
class Selector:
    """Pods that a term speaks of: their labels, and their namespace by its name or by its own labels."""

    term: Term
    namespaces: tuple[str, ...]
    namespace_term: Term | None = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Inter-pod affinity: be (or be not) in one domain of `topology_key` with a selected pod."""

    selector: Selector
    topology_key: str
    weight: int = 0  # 0 = required


@dataclass(frozen=True, slots=True)
class Spread:
    selector: Selector
    topology_key: str
    max_skew: int
    min_domains: int
    is_hard: bool
    reads_affinity: bool = True  # nodes that the pod's own selector or affinity rules out do not count
    reads_taints: bool = False  # nodes whose taints it does not tolerate neither


@dataclass(frozen=True, slots=True)
class Port:
    protocol: str
    host_ip: str  # "0.0.0.0" = every address
    number: int


@dataclass(frozen=True, slots=True)
class Request:
    """The shape; an amount is a resource and what one pod takes of it, in the units of the snapshot."""

    amounts: tuple[tuple[str, int], ...] = ()
    node_selector: Term = ()
    node_terms: tuple[Term, ...] = ()  # any must hold; empty = no demand
    volume_terms: tuple[tuple[Term, ...], ...] = ()  # of each volume, or claim without one, any must hold
    node_preferences: tuple[Preference, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    ports: tuple[Port, ...] = ()
    near: tuple[Neighbour, ...] = ()
    apart: tuple[Neighbour, ...] = ()
    spreads: tuple[Spread, ...] = ()
    labels: int = -1  # label set, only where a term of some pod reads labels: then it is part of the shape
    blocked_by: str = ""  # what keeps every pod of this shape from any node, "" if nothing

    @property
    def is_coupled(self) -> bool:
        """One pod changes where the next may go, so members are placed one by one."""
        return bool(self.ports or self.near or self.apart or self.spreads)
