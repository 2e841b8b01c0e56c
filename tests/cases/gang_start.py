"""The `start` facts of gang trees, run on production `decide`, checked by a judge that shares no code with
it.

The judge: no node over-committed, no more members than exist, every group with a bound member satisfied,
every level kept, nothing bound where nothing can start, and no unit left out that would fit.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

from tests.cases.gang_world import placement_of
from tests.cases.outcome import Outcome, failed, passed

Json = dict[str, Any]
Placement = dict[str, list[str]]


def run(case: Json, file: Json) -> Outcome:
    del file
    placement = placement_of(case)
    gang = case["gang"]
    starts = is_satisfied(gang, gang["name"], placement)
    emitted = {"starts": starts, "placement": placement}
    fault = next(faults(case, placement), "")
    if fault:
        return failed(f"{fault}: {placement}", emitted)
    if starts != case["expect"]["starts"]:
        return failed(f"expected starts={case['expect']['starts']}, got {starts}: {placement}", emitted)
    unit = next(_missed(case, placement), None)
    if unit is not None:
        return failed(f"stopped at {placement} though {unit} fits too", emitted)
    return passed(emitted)


def faults(case: Json, placement: Placement) -> Iterator[str]:
    nodes = {node["name"]: node for node in case["nodes"]}
    used: Counter[str] = Counter()
    for path, group in walk(case["gang"], case["gang"]["name"]):
        bound = _members(group, path, placement)
        if len(placement.get(path, ())) > group.get("members", 0):
            yield f"{path} has more members bound than exist"
        if bound and not is_satisfied(group, path, placement):
            yield f"{path} has bound members but is not satisfied"
        level = group.get("level")
        if level and len({_domain(nodes[name], level) for name in bound}) > 1:
            yield f"{path} spans more than one {level}"
        for name in placement.get(path, ()):
            used[name] += group["gpus"]
    for name, gpus in used.items():
        if gpus > nodes[name]["gpus"]:
            yield f"{name} is over-committed"


def _missed(case: Json, placement: Placement) -> Iterator[Placement]:
    """Larger placements that keep every rule: one more member, or the members of one more child."""
    gang = case["gang"]
    names = [node["name"] for node in case["nodes"]]
    for path, group in walk(gang, gang["name"]):
        if path == gang["name"] or _members(group, path, placement):
            yield from _with_one_more(case, path, group, placement, names)
        else:
            for more in _ways(group, path, names):
                yield from _if_sound(case, placement, more)


def _with_one_more(
    case: Json, path: str, group: Json, placement: Placement, names: list[str]
) -> Iterator[Placement]:
    if len(placement.get(path, ())) < group.get("members", 0):
        for name in names:
            yield from _if_sound(case, placement, {path: [name]})


def _if_sound(case: Json, placement: Placement, more: Placement) -> Iterator[Placement]:
    larger = {
        path: [*placement.get(path, ()), *more.get(path, ())] for path in placement.keys() | more.keys()
    }
    if any(more.values()) and not any(faults(case, larger)):
        yield more


def _ways(group: Json, path: str, names: list[str]) -> Iterator[Placement]:
    """Every way to satisfy an empty group with the fewest members of each leaf."""
    if "children" not in group:
        needed = group.get("minMember", 0)
        if needed <= group["members"]:
            for nodes in combinations_with_replacement(names, max(needed, 1) if group["members"] else 0):
                yield {path: list(nodes)}
        return
    options = [[{}, *_ways(child, f"{path}/{child['name']}", names)] for child in group["children"]]
    for parts in product(*options):
        yield {leaf: nodes for part in parts for leaf, nodes in part.items()}


def is_satisfied(group: Json, path: str, placement: Placement) -> bool:
    if len(_members(group, path, placement)) < group.get("minMember", 0):
        return False
    children = group.get("children", ())
    held = sum(is_satisfied(child, f"{path}/{child['name']}", placement) for child in children)
    return bool(held >= group.get("minSubGroup", len(children)))


def _members(group: Json, path: str, placement: Placement) -> list[str]:
    below = (_members(child, f"{path}/{child['name']}", placement) for child in group.get("children", ()))
    return [*placement.get(path, ()), *(node for nodes in below for node in nodes)]


def walk(group: Json, path: str) -> Iterator[tuple[str, Json]]:
    yield path, group
    for child in group.get("children", ()):
        yield from walk(child, f"{path}/{child['name']}")


def _domain(node: Json, level: str) -> tuple[str, ...]:
    return (node["zone"],) if level == "zone" else (node["zone"], node["rack"])
