"""CompositePodGroups as arrays; one that cannot be read, or is not there, holds its gangs back."""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from quorate.api.composite import COMPOSITE_POD_GROUP, CompositePodGroup, CompositePodGroupSpec
from quorate.api.meta import ObjectMeta
from quorate.plan import Ref
from quorate.rules.composites import way_up_fault
from quorate.scheduling.encode.pods import Key
from quorate.scheduling.encode.topologies import Topologies
from quorate.scheduling.snapshot import ABSENT, NONE, Composites, Ints, Problem


def composites_of(
    rows: Mapping[Key, int],
    objects: Mapping[Key, CompositePodGroup],
    of_gangs: Iterable[Key | None],
    levels: Topologies,
) -> tuple[Composites, list[Problem]]:
    """The composites of a snapshot, one for each row; `of_gangs` names the one that each gang is in."""
    broken = _broken(objects)
    found = [_held_back(*key) if key in broken or key not in objects else objects[key] for key in rows]
    refs = tuple(Ref(kind=COMPOSITE_POD_GROUP, name=name, namespace=namespace) for namespace, name in rows)
    parents = [
        rows.get((namespace, one.spec.parent), NONE) for (namespace, _), one in zip(rows, found, strict=True)
    ]
    constraints = [one.spec.topology_constraint for one in found]
    required = [
        NONE if one is None else levels.row(one.topology, one.required_topology_level) for one in constraints
    ]
    preferred = [
        NONE if one is None else levels.row(one.topology, one.preferred_topology_level) for one in constraints
    ]
    kinds = [(key[0], one.spec.spread) for key, one in zip(rows, found, strict=True)]
    spreads = {kind: number for number, kind in enumerate(sorted(set(kinds)))}
    inside = Counter(rows[key] for key in of_gangs if key is not None) + Counter(parents)
    stated = [one.spec.min_group_count for one in found]
    minimum = [inside[row] if count is None else count for row, count in enumerate(stated)]
    composites = Composites(
        refs=refs,
        parent=_array(parents),
        minimum=_array(minimum),
        required=_array(required),
        preferred=_array(preferred),
        spread=_array(spreads[kind] if kind[1] else NONE for kind in kinds),
    )
    return composites, [Problem(refs[rows[key]], "InvalidParent", text) for key, text in broken.items()]


def _broken(objects: Mapping[Key, CompositePodGroup]) -> dict[Key, str]:
    """What is wrong with the way up of those for which there is no end to it."""
    found: dict[Key, str] = {}
    for namespace, name in sorted(key for key, one in objects.items() if one.spec.parent):

        def parent_of(name: str, namespace: str = namespace) -> str:
            above = objects.get((namespace, name))
            return above.spec.parent if above is not None else ""

        if fault := way_up_fault(name, parent_of):
            found[namespace, name] = f"spec.parent: {fault}; its gangs do not start until that is mended"
    return found


def _held_back(namespace: str, name: str) -> CompositePodGroup:
    """Stands for a composite that nobody may start in."""
    spec = CompositePodGroupSpec(min_group_count=ABSENT)
    return CompositePodGroup(metadata=ObjectMeta(name=name, namespace=namespace), spec=spec)


def _array(numbers: Iterable[int]) -> Ints:
    return np.array(list(numbers), dtype=np.int64)
