"""KAI's unit tables on PodGroups and their trees, run on `quorate.rules` and on one gang of the scheduler."""

import math
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from quorate.api.duration import seconds
from quorate.api.podgroup import PodGroupSpec, SubGroup
from quorate.rules import tree as rules
from quorate.rules.preemptibility import Claim, Preemptibility, resolve
from quorate.rules.tree import ROOT, Tree, TreeError
from quorate.rules.validity import Cause, validate
from quorate.scheduling import gang
from quorate.scheduling.encode.gangs import epoch
from quorate.scheduling.growth import _grown
from quorate.scheduling.trial import Trial
from tests.cases.deviations import Mismatch, explain
from tests.cases.outcome import Outcome, deviating, failed, passed, unsupported
from tests.fakes.clusters import Group
from tests.fakes.onegang import NODE, given_up, one_gang, started, trial_of

Json = dict[str, Any]

ACTIVE = {"Allocated", "Pipelined", "Binding", "Bound", "Running", "Succeeded"}
LIVE = ACTIVE | {"Pending"}


def run(case: Json, file: Json) -> Outcome:
    table = TABLES.get(case["function"])
    if table is None:
        return unsupported(f"KAI unit table {case['function']} ({file.get('about', '')})")
    return table(case)


def _admission(case: Json) -> Outcome:
    wire = case.get("spec", {"sub_groups": case.get("sub_groups")})
    findings = validate(_spec(wire))
    structure = [fault.message for fault in findings.errors if fault.cause is Cause.STRUCTURE]
    # What is impossible is admitted with a warning, as upstream's webhook does with the same text.
    counted = [fault for fault in findings.warnings if fault.field.endswith("minSubGroup")]
    # Names and ranges are the schema's there, and stand in another table.
    told = {Cause.MINIMUM, Cause.IMPOSSIBLE}
    minimums = [fault.message for fault in (*findings.errors, *counted) if fault.cause in told]
    want = case["want_err"] if "want_err" in case else case["want"]
    want = want or {}
    wanted = [error["msg"] for error in want.get("min_definition_errors") or ()]
    structural = (want.get("structural_error") or {}).get("msg")
    got = (structure[:1], [] if structure else sorted(minimums))
    return _compared(case, got, ([structural] if structural else [], sorted(wanted)), "podgroup_admission")


def _preemptibility(case: Json) -> Outcome:
    if case["preemptibility"] and case["preemptibility"] not in set(Preemptibility):
        return _compared(case, True, case["expected_error"], "preemptibility")
    found = resolve([Claim("spec", case["preemptibility"])], case["priority"])
    return _compared(
        case, (found.value, False), (case["expected_result"], case["expected_error"]), "preemptibility"
    )


def _tree(case: Json) -> Outcome:
    want = case.get("want_err") or case["want"]
    try:
        tree = rules.from_spec(_spec(case["pod_group"]["spec"]))
    except TreeError as error:
        return _compared(case, _upstream_text(str(error)), want, "subgroup_tree")
    return _compared(case, _drawn(tree, ROOT), _trimmed(case["want"]), "subgroup_tree")


def _upstream_text(text: str) -> str:
    """The first problem, in the words of upstream."""
    words = text.partition(";")[0].split()
    if "duplicate" in words:
        return f"subgroup <{words[-1]}> already exists"
    if "parent" in words:
        at = words.index("parent")
        return f"parent subgroup <{words[at + 1]}> of <{words[at + 3]}> not found"
    return text


def _drawn(tree: Tree, name: str) -> Json:
    below = list(tree.children(tree.groups[name]))
    leaves = [{"name": leaf.name, "min_member": leaf.minimum_members} for leaf in below if leaf.is_leaf]
    groups = [_drawn(tree, group.name) for group in below if not group.is_leaf]
    return {"name": name, "groups": groups, "pod_sets": leaves}


def _trimmed(want: Json) -> Json:
    """Only what our tree has too: names, order and the minimum of members."""
    leaves = [{"name": leaf["name"], "min_member": leaf["min_member"]} for leaf in want.get("pod_sets") or ()]
    return {
        "name": want["name"],
        "groups": [_trimmed(group) for group in want.get("groups") or ()],
        "pod_sets": leaves,
    }


def _evict(case: Json) -> Outcome:
    job = case["job"]
    root = job.get("root_sub_group_set") or {"podsets": list(job["pod_sets"].values())}
    trial = _built(root)
    taken = given_up(trial)
    got: Json = {"num": sum(taken.values()), "more": int(trial.active[0]) > sum(taken.values())}
    want: Json = {"num": case["num_expect_tasks"], "more": case["expected_has_more_tasks"]}
    names = case.get("expect_tasks") or case.get("expected_task_names")
    if names:
        got["leaves"] = sorted(leaf for leaf, count in taken.items() for _ in range(count))
        want["leaves"] = sorted(_leaf_of(root, name) for name in names)
    return _compared(case, got, want, "tasks_to_evict")


def _allocate(case: Json) -> Outcome:
    leaves = [
        {"name": name, "min": minimum, "pods": case["sub_group_tasks"].get(name) or ()}
        for name, minimum in case["min_avail_map"].items()
    ]
    required = case.get("min_sub_group", 0 if case["function"].endswith("Zero") else None)
    root = {"podsets": leaves, "min_subgroup": required}
    added = started(_built(root))
    pending = {
        leaf["name"]: [pod["name"] for pod in leaf["pods"] if pod["status"] == "Pending"] for leaf in leaves
    }
    got = [name for leaf, count in added.items() for name in pending[leaf][:count]]
    if case.get("want_tasks") is None:
        return _compared(case, len(got), case["want_num_tasks"], "tasks_to_allocate")
    return _compared(case, sorted(got), sorted(case["want_tasks"]), "tasks_to_allocate")


def _missing(case: Json) -> Outcome:
    pods = [{"status": status} for status in case["task_statuses"] or ()]
    trial = _built({"podsets": [{"name": "a", "min": case["min_available"], "pods": pods}]})
    return _compared(case, sum(started(trial).values()), case["want"], "tasks_to_allocate")


def _allocatable(case: Json) -> Outcome:
    """In a trial, members that were evicted are looked for a place again."""
    states = [
        "Pending" if status == "Releasing" and not case["is_real_allocation"] else status
        for status in case["task_statuses"] or ()
    ]
    pods = [{"status": status} for status in states]
    trial = _built({"podsets": [{"name": "a", "min": 1, "pods": pods}]})
    return _compared(case, len(trial.pending(0)), case["want"], "tasks_to_allocate")


def _queued(case: Json) -> Outcome:
    """So many of the waiting members, in their order."""
    leaf = {"name": "a", "min": 0, "pods": [{"status": "Pending"} for _ in case["pod_names"]]}
    trial = _built({"podsets": [leaf], "min_subgroup": 0})
    taken: list[str] = []
    while len(taken) < case["max_num_tasks"] and started(trial):
        taken.append(case["pod_names"][trial.active[0]])
        trial.place(trial.pending(0)[:1], np.array([0]), now=True)
    return _compared(case, taken, case["want_tasks"] or [], "tasks_to_allocate")


def _queue(case: Json) -> Outcome:
    """Members that want a node; in a trial, evicted ones are looked for a place again."""
    wanted = {"Pending"} if case["is_real_allocation"] else {"Pending", "Releasing"}
    waiting = [task["name"] for task in case["tasks"] if task["status"] in wanted]
    pods = [{"status": "Pending" if task["name"] in waiting else task["status"]} for task in case["tasks"]]
    trial = _built({"podsets": [{"name": "a", "min": 1, "pods": pods}]})
    got = (len(trial.pending(0)), waiting[0] if waiting else None)
    return _compared(case, got, (case["want_len"], case.get("want_first_task_name")), "tasks_to_allocate")


def _count(case: Json) -> Outcome:
    """Live members, or those of them that wait."""
    tasks = [
        one for leaf in (case["job"].get("pod_sets") or {}).values() for one in leaf.get("pods", {}).values()
    ]
    trial = _built({"podsets": [{"name": "a", "min": 1, "pods": tasks}]})
    held = 0 if case["function"].endswith("GetNumPendingTasks") else int(trial.active[0])
    return _compared(case, held + len(trial.pending(0)), case["expected"], "podgroup_info")


def _noted(case: Json) -> Outcome:
    """A note of the past that cannot be read counts as none."""
    found = epoch(case["annotation"] or "", math.nan)
    return _compared(case, None if math.isnan(found) else found, _moment(case["expected"]), "podgroup_info")


def _delay(case: Json) -> Outcome:
    """When a gang may cause evictions, where that is later than its coming."""
    stated = ((case["pod_group"] or {}).get("spec") or {}).get("preemption_delay") or {}
    duration = stated.get("duration", 0) if isinstance(stated, dict) else stated
    ends = duration if isinstance(duration, int) else seconds(str(duration))
    return _compared(case, ends or None, _moment(case["expected_end"]), "podgroup_info")


def _moment(wanted: object) -> object:
    return epoch(wanted, math.nan) if isinstance(wanted, str) else wanted


def _leaf(case: Json) -> Outcome:
    # The table of elastic leaves says nowhere that its leaves have a minimum of two.
    minimum, pods = case.get("min_available", 2), case.get("pods") or []
    trial = _built({"podsets": [{"name": "a", "min": minimum, "pods": pods}]})
    got = {
        "TestIsGangSatisfied": gang.is_satisfied(trial, 0),
        "TestIsReadyForScheduling": gang.is_satisfied(trial, 0) or gang.is_eligible(trial, 0),
        "TestIsElastic": len(pods) > minimum,
        "TestGetNumActiveAllocatedTasks": int(trial.active[0]),
    }
    return _compared(case, got[case["function"]], case["expected"], "podset")


def _default_minimum(case: Json) -> Outcome:
    tree = rules.from_spec(PodGroupSpec(min_member=case["1"]))
    return _compared(case, tree.root.minimum_members, case["2"], "podgroup_info")


def _order(case: Json) -> Outcome:
    trial = _built({"groups": [case["left"], case["right"]]})
    left, right = (
        _grown(trial, trial.snapshot.groups.names.index(case[side]["name"])) for side in ("left", "right")
    )
    return _compared(case, (left > right) - (left < right), case["want"], "subgroup_order")


def _built(root: Json) -> Trial:
    """The gang of a case: its active members run, its other live ones wait."""
    groups = [Group("", min_sub_group=root.get("min_subgroup"))]

    def descend(node: Json, parent: str) -> None:
        for child in (*(node.get("groups") or ()), *(node.get("podsets") or ())):
            if "min" not in child:
                groups.append(Group(child["name"], parent, min_sub_group=child.get("min_subgroup")))
                descend(child, child["name"])
                continue
            pods = child.get("pods") or ()
            states = [pod["status"] for pod in (pods.values() if isinstance(pods, dict) else pods)]
            active, live = (sum(state in among for state in states) for among in (ACTIVE, LIVE))
            groups.append(Group(child["name"], parent, child["min"], members=live, running=(NODE,) * active))

    descend(root, "")
    return trial_of(one_gang(groups))


def _leaf_of(node: Json, pod: str) -> str:
    for leaf in node.get("podsets") or ():
        pods = leaf.get("pods") or ()
        if any(each["name"] == pod for each in (pods.values() if isinstance(pods, dict) else pods)):
            return str(leaf["name"])
    found = (_leaf_of(group, pod) for group in node.get("groups") or ())
    return next((leaf for leaf in found if leaf), "")


def _spec(wire: Json) -> PodGroupSpec:
    groups = [
        SubGroup(
            name=group["name"],
            parent=group.get("parent"),
            min_member=group.get("min_member"),
            min_sub_group=group.get("min_sub_group"),
        )
        for group in wire.get("sub_groups") or ()
    ]
    return PodGroupSpec(
        min_member=wire.get("min_member"), min_sub_group=wire.get("min_sub_group"), sub_groups=groups
    )


def _compared(case: Json, got: object, want: object, topic: str) -> Outcome:
    if got == want:
        return passed({"got": msgspec.to_builtins(got)})
    reason = explain(Mismatch(topic, case, want, got))
    return deviating(reason) if reason else failed(f"expected {want!r}, got {got!r}")


TABLES: dict[str, Callable[[Json], Outcome]] = {
    "TestValidateSubGroups": _admission,
    "TestValidatePodGroupSpec": _admission,
    "TestCalculatePreemptibility": _preemptibility,
    "TestFromPodGroup_FullTree": _tree,
    "TestGetTasksToEvict_Table": _evict,
    "TestGetTasksToEvict_HierarchicalTree": _evict,
    "Test_GetTasksToAllocate": _allocate,
    "Test_GetTasksToAllocate_MinSubGroupZero": _allocate,
    "Test_getNumTasksToAllocate": _missing,
    "Test_getNumAllocatableTasks": _allocatable,
    "TestIsReadyForScheduling": _leaf,
    "TestIsGangSatisfied": _leaf,
    "TestIsElastic": _leaf,
    "TestGetNumActiveAllocatedTasks": _leaf,
    "TestSetPodGroupMinMember": _default_minimum,
    "TestSubGroupOrderFn": _order,
    "Test_getTasksFromQueue": _queued,
    "Test_getTasksPriorityQueue": _queue,
    "TestPodGroupInfo_GetNumAliveTasks": _count,
    "TestPodGroupInfo_GetNumPendingTasks": _count,
    "TestSetPodGroupLastEvictionTimestamp": _noted,
    "TestPreemptionDelayEnd": _delay,
}
