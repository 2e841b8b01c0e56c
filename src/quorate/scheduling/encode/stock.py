"""Volumes made by hand, for claims that wait for their first consumer: how many are free for a claim, and where.

1. What is free for a demand is a resource of the node that has the volumes: a gang goes only where there is one for
   each of its claims.
2. A claim takes of its own demand and of every weaker one, whose volumes its own are among. Where demands are ordered
   like this, as sizes of one class are, as many claims find volumes as the counts say.
3. A volume that several nodes reach is chosen for a claim beforehand, oldest claim first, and ties its pods.
"""

from collections.abc import Mapping
from functools import cached_property

import msgspec

from quorate.api import labels
from quorate.api.meta import Object
from quorate.api.quantity import QuantityError, units
from quorate.api.selectors import Selector, compiled, matches
from quorate.api.storage import PERSISTENT_VOLUME, PersistentVolume, PersistentVolumeClaim
from quorate.plan import Ref
from quorate.scheduling.encode.nodes import NAME, VOLUME

Key = tuple[str, str]  # namespace, name
FREE = "Available"


class Demand(msgspec.Struct, frozen=True):
    """What a claim asks of a volume."""

    storage_class: str
    size: int
    modes: tuple[str, ...]
    volume_mode: str
    selector: Selector

    def __str__(self) -> str:
        """The name of the resource that counts its volumes."""
        wish = [
            _shown(self.size),
            *self.modes,
            *([self.volume_mode] if self.volume_mode != "Filesystem" else ()),
        ]
        wish += [f"{test.key} {test.operator} {','.join(test.values)}" for test in self.selector]
        return f"volumes of class {self.storage_class} ({', '.join(wish)})"

    def is_met_by(self, volume: PersistentVolume) -> bool:
        spec = volume.spec
        return (
            spec.storage_class_name == self.storage_class
            and size_of(spec.capacity) >= self.size
            and set(self.modes) <= set(spec.access_modes or ())
            and spec.volume_mode == self.volume_mode
            and matches(self.selector, volume.metadata.labels)
        )

    def implies(self, weaker: "Demand") -> bool:
        """Whether every volume that meets this one meets the other."""
        return (
            (self.storage_class, self.volume_mode) == (weaker.storage_class, weaker.volume_mode)
            and self.size >= weaker.size
            and set(self.modes) >= set(weaker.modes)
            and weaker.selector in {(), self.selector}
        )


def _shown(size: int) -> str:
    return f"{size} bytes" if size % 2**30 else f"{size // 2**30}Gi"


def demand_of(claim: PersistentVolumeClaim) -> Demand:
    spec = claim.spec
    return Demand(
        spec.storage_class_name or "",
        size_of(spec.resources.requests),
        tuple(sorted(spec.access_modes or ())),
        spec.volume_mode,
        compiled(spec.selector) or (),
    )


def size_of(amounts: Mapping[str, str | int | float] | None) -> int:
    """The bytes of storage; what cannot be read is nothing."""
    try:
        return units((amounts or {}).get("storage", 0))
    except QuantityError:
        return 0


class Stock(msgspec.Struct, frozen=True, dict=True):
    """The free volumes of a moment and the claims that wait for one of them; made anew when any of them changes."""

    volumes: tuple[PersistentVolume, ...]
    claims: tuple[PersistentVolumeClaim, ...]

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        return tuple(sorted({demand_of(claim) for claim in self.claims}, key=str))

    @cached_property
    def on_hosts(self) -> dict[tuple[str, str], tuple[Ref, ...]]:
        """For each demand and host its volumes, smallest first."""
        found: dict[tuple[str, str], list[Ref]] = {}
        for volume in self._smallest_first:
            if host := host_of(volume):
                for demand in self.demands:
                    if demand.is_met_by(volume):
                        found.setdefault((str(demand), host), []).append(volume_ref(volume))
        return {place: tuple(refs) for place, refs in found.items()}

    def takes(self, claim: PersistentVolumeClaim) -> tuple[tuple[str, int], ...]:
        """What its pod takes on a node; nothing where no host has a volume for it."""
        mine = demand_of(claim)
        if str(mine) not in self._hosted:
            return ()
        return tuple((str(one), VOLUME) for one in self.demands if mine.implies(one))

    def chosen(self, claim: PersistentVolumeClaim) -> PersistentVolume | None:
        """The volume that several nodes reach, for a claim that no host has one for."""
        return self._chosen.get((claim.metadata.namespace, claim.metadata.name))

    @cached_property
    def _hosted(self) -> frozenset[str]:
        return frozenset(demand for demand, _ in self.on_hosts)

    @cached_property
    def _chosen(self) -> dict[Key, PersistentVolume]:
        left = [volume for volume in self._smallest_first if not host_of(volume)]
        found: dict[Key, PersistentVolume] = {}
        for claim in sorted(self.claims, key=_age):
            demand = demand_of(claim)
            volume = next((one for one in left if demand.is_met_by(one)), None)
            if volume is not None and str(demand) not in self._hosted:
                found[claim.metadata.namespace, claim.metadata.name] = volume
                left.remove(volume)
        return found

    @cached_property
    def _smallest_first(self) -> list[PersistentVolume]:
        return sorted(self.volumes, key=lambda one: (size_of(one.spec.capacity), one.metadata.name))


def is_free(volume: PersistentVolume) -> bool:
    meta = volume.metadata
    return volume.spec.claim_ref is None and volume.status.phase == FREE and meta.deletion_timestamp is None


def host_of(volume: PersistentVolume) -> str:
    """The one host that reaches the volume, by its label or name; "" if others may."""
    affinity = volume.spec.node_affinity
    terms = affinity.required.node_selector_terms if affinity and affinity.required else None
    if not terms or len(terms) > 1:
        return ""
    tests = [*(terms[0].match_expressions or ()), *(terms[0].match_fields or ())]
    named = [
        test.values or [] for test in tests if test.key in {labels.HOSTNAME, NAME} and test.operator == "In"
    ]
    return named[0][0] if len(named) == len(tests) == 1 and len(named[0]) == 1 else ""


def volume_ref(volume: PersistentVolume) -> Ref:
    meta = volume.metadata
    return Ref(PERSISTENT_VOLUME, meta.name, uid=meta.uid, resource_version=meta.resource_version)


def _age(claim: Object) -> tuple[str, str, str]:
    meta = claim.metadata
    return meta.creation_timestamp, meta.namespace, meta.name


EMPTY = Stock(volumes=(), claims=())
