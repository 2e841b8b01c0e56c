"""The `satisfied` and `core` facts of gang trees, run on `quorate.rules.tree`."""

from typing import Any

from quorate.api.podgroup import PodGroupSpec, SubGroup
from quorate.rules import tree as rules
from tests.cases.outcome import Outcome, failed, passed

Json = dict[str, Any]


def run(case: Json, file: Json) -> Outcome:
    del file
    paths = {rules.ROOT: case["gang"]["name"]}
    tree = rules.from_spec(spec_of(case["gang"], paths))
    leaf_of = {path: name for name, path in paths.items()}
    running = {leaf_of[path]: count for path, count in case["running"].items()}
    if case["op"] == "core":
        core = {paths[name]: count for name, count in rules.core(tree, running).items()}
        return _compared({"core": core}, case["expect"])
    holds = rules.satisfied(tree, running)
    by_path = {path: holds[name] for name, path in paths.items()}
    return _compared({"satisfied": by_path, "root": holds[rules.ROOT]}, case["expect"])


def spec_of(gang: Json, paths: dict[str, str]) -> PodGroupSpec:
    """The gang as a PodGroup; fills `paths` with the path of every group by its name."""
    groups: list[SubGroup] = []

    def descend(node: Json, name: str, path: str) -> None:
        for child in node.get("children", ()):
            child_path = f"{path}/{child['name']}"
            paths[child["name"]] = child_path
            groups.append(
                SubGroup(
                    name=child["name"],
                    parent=name or None,
                    min_member=child.get("minMember"),
                    min_sub_group=child.get("minSubGroup"),
                )
            )
            descend(child, child["name"], child_path)

    descend(gang, "", gang["name"])
    return PodGroupSpec(
        min_member=gang.get("minMember"), min_sub_group=gang.get("minSubGroup"), sub_groups=groups
    )


def _compared(got: Json, want: Json) -> Outcome:
    return passed(got) if got == want else failed(f"expected {want}, got {got}", got)
