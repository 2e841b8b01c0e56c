"""KAI's unit tables on topologies, run on production levels, candidates and `decide` by way of the encoder."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from quorate.plan import Bind
from quorate.scheduling import topology
from quorate.scheduling.agenda import Start
from quorate.scheduling.decide import decide
from quorate.scheduling.placement import Search
from quorate.scheduling.policy import Policy, new_trial
from quorate.scheduling.snapshot import NONE, Level, Snapshot
from quorate.scheduling.topology import ANYWHERE
from tests.cases.kai_world import NOW, World
from tests.cases.outcome import Outcome, failed, passed, unsupported

Json = dict[str, Any]
ROOT = "root"
LEVELS = ("zone", "rack")


def run(case: Json, file: Json) -> Outcome:
    table = TABLES.get(case["function"])
    return (
        table(case) if table else unsupported(f"KAI unit table {case['function']} ({file.get('about', '')})")
    )


def _is_part(case: Json) -> Outcome:
    nodes = [node_of("n", labels=case["labels"])]
    snapshot = world(nodes, case.get("levels", LEVELS)).encoder.snapshot(NOW)
    return _compared(bool((snapshot.levels[-1].of_node != NONE).all()), case["expected"])


def _lowest_common(case: Json) -> Outcome:
    """The deepest level at which all nodes of the topology share a domain, down to the preferred one."""
    metas = [one["node"]["object_meta"] for one in case["nodes"].values()]
    nodes = [node_of(meta["name"], labels=meta.get("labels", {})) for meta in metas]
    snapshot = world(nodes, case.get("levels", LEVELS)).encoder.snapshot(NOW)
    inside = np.flatnonzero(snapshot.levels[-1].of_node != NONE)
    labels = [level.label for level in snapshot.levels]
    preferred = case["topology_constraint"].get("preferred_level") or labels[-1]
    tried = snapshot.levels[: labels.index(preferred) + 1]
    shared = [level for level in tried if len(np.unique(level.of_node[inside])) == 1]
    found = (ROOT, ROOT)
    if shared:
        last = shared[-1]
        found = (last.domains[int(last.of_node[inside[0]])].replace("/", "."), last.label)
    got = (*found, [snapshot.nodes.names[row] for row in inside])
    return _compared(got, (case["expected_id"], case["expected_level"], sorted(case["expected_valid"])))


def _levels(case: Json) -> Outcome:
    names = [one["node_label"] for one in case["topology_tree"]["topology_resource"]["spec"]["levels"]]
    stated = case["sub_group_set"]["constraint"]
    job = job_of([{"state": "Pending"}], constraint={**constraint_of(stated), "topology": "t"})
    labels = dict.fromkeys(names, "x")
    snapshot = world([node_of("n", labels=labels)], names, name="t", jobs=[job]).encoder.snapshot(NOW)
    is_asked = bool(stated.get("required_level") or stated.get("preferred_level"))
    tried = topology.tried_levels(snapshot, 0) if is_asked else []
    is_known = not any("topologyConstraint" in problem.message for problem in snapshot.problems)
    if case["expected_error"]:
        return _compared(bool(tried) and is_known, False)
    got = [ROOT if row == NONE else snapshot.levels[row].label for row in tried]
    return _compared(got, case["expected_levels"])


def _subset(case: Json) -> Outcome:
    """What is bound lies in the first set of nodes that upstream would try; where it has none, nothing is bound."""
    plan = decide(_pictured(case).encoder.snapshot(NOW))
    bound = {change.node for change in plan.changes if isinstance(change, Bind)}
    wanted = case.get("expected_nodes_first_subset")
    if not (wanted or case.get("expected_error") or case.get("expected_job_fit_error")):
        wanted = case["nodes"]
    if not wanted:
        told = case.get("expected_job_fit_error", "").partition(" couldn't")[0]
        texts = [*(one.message for one in plan.refusals)]
        is_told = not told or any(told in text for text in texts)
        return _compared((bound, bool(plan.refusals)), (set(), True)) if is_told else failed(f"said {texts}")
    return passed() if bound and bound <= set(wanted) else failed(f"bound to {bound}, expected in {wanted}")


def _allocatable(case: Json) -> Outcome:
    """How many of the pods each domain could take, now or once others have left."""
    if case["job"].get("required_gp_us_per_task", 0) % 1:
        return unsupported("gpu_fraction")
    snapshot = _pictured(case).encoder.snapshot(NOW)
    trial = new_trial(snapshot, Policy())
    job = next(at for at, gang in enumerate(snapshot.gangs.refs) if gang.name == case["job"]["name"])
    waiting = trial.pending(int(snapshot.gangs.root[job]))
    column = trial.column(int(snapshot.pods.shape[waiting[0]]), now=False)
    counts = column.counts.clip(max=len(waiting))
    got: dict[str, int] = {}
    for level in snapshot.levels:
        rooms = np.bincount(level.of_node, weights=counts, minlength=len(level.domains)).astype(int)
        got.update(zip(map(_upstream_id, level.domains), rooms.tolist(), strict=True))
    want = {name: one["allocatable_pods"] for name, one in case["expected_domains"].items() if name != ROOT}
    return _compared({name: got.get(name) for name in want}, want)


def _domains_of_level(case: Json) -> Outcome:
    names = sorted({level for level, _ in _walk(case["root"])}, key=_depths(case["root"]).__getitem__)
    if case["level"] not in names:
        return _compared(0, case["expected_count"])
    labels = [path for level, path in _walk(case["root"]) if level == names[-1]]
    nodes = [node_of(f"n{at}", labels=path) for at, path in enumerate(labels)]
    level = _level(world(nodes, names).encoder.snapshot(NOW), case["level"])
    last = sorted(domain.rpartition("/")[2] for domain in level.domains)
    want = (case["expected_count"], sorted(case.get("expected_i_ds") or last))
    return _compared((len(last), last), want)


def _scored(case: Json) -> Outcome:
    """Of the preferred domains that cannot take a gang alone, the one with more room is filled first.

    Every node of the domain at place n has n free GPUs, as the drawn order asks for; gangs that overflow the
    best domains by one pod show which comes next.
    """
    level, scores = case["preferred_level"], case["expected_scores"]
    drawn = [one for one in _domains(case["domain"]) if one["level"] == level]
    rooms = {one["id"]: (at + 1) * len(one["nodes"]) for at, one in enumerate(drawn)}
    best = sorted(drawn, key=lambda one: -scores[next(iter(one["nodes"]))])
    for taken in range(min(2, len(best)), len(best) + 1):
        count = sum(rooms[one["id"]] for one in best[: taken - 1]) + 1
        got = {node.partition("/")[0] for node in _bound(drawn, level, count)}
        want = {one["id"] for one in best[:taken]}
        if got != want:
            return failed(f"{count} pods go to {sorted(got)}, expected {sorted(want)}")
    return passed()


def _bound(drawn: list[Json], level: str, count: int) -> list[str]:
    """Where a gang goes that prefers one domain of the level; a node is named after its domain."""
    nodes = [
        node_of(f"{one['id']}/{name}", labels={level: one["id"]}, gpus=at + 1)
        for at, one in enumerate(drawn)
        for name in one["nodes"]
    ]
    constraint = {"topology": "t", "preferred": level}
    job = job_of([{"state": "Pending"}] * count, each={"gpus": 1}, constraint=constraint)
    plan = decide(world(nodes, [level], jobs=[job]).encoder.snapshot(NOW))
    return [change.node for change in plan.changes if isinstance(change, Bind)]


def _domains(root: Json) -> Iterator[Json]:
    yield root
    for child in root.get("children") or ():
        yield from _domains(child)


def _sorted_tree(case: Json) -> Outcome:
    root, deepest = case["setup_tree"], case["max_depth_level"]
    if root is None or not deepest:
        return _compared(None, case["expected_order"])
    children = root.get("children", [])
    asked = case["tasks_resources"]
    amounts = {"gpus": asked["gpus"], "cpu_cores": asked["milli_cpu"] / 1000, "memory_bytes": asked["memory"]}
    nodes = [
        node_of(child["id"], labels={root["level"]: root["id"], child["level"]: child["id"]}, **_offer(child))
        for child in children
    ]
    job = job_of([{"state": "Pending"}], each=amounts)
    snapshot = world(nodes, [root["level"], children[0]["level"]], jobs=[job]).encoder.snapshot(NOW)
    trial = new_trial(snapshot, Policy())
    demands = Search(trial, 0, now=True, is_exact=False).demands(Start(0))
    found = topology.candidates(trial, 1, ANYWHERE, demands)
    got = [snapshot.levels[1].domains[domain].rpartition("/")[2] for domain in found]
    return _compared(got, case["expected_order"])


def _offer(child: Json) -> Json:
    free = child["idle_or_releasing_vector"]
    return {
        "gpus": free["gpus"],
        "cpu_cores": free["milli_cpu"] / 1000,
        "memory_bytes": free["memory"],
    }


def _walk(root: Json, above: Json | None = None) -> Iterator[tuple[str, Json]]:
    """Each domain of a drawn tree: its level, and the labels of a node in it."""
    path = {**(above or {}), root["level"]: root["id"]}
    yield root["level"], path
    for child in root.get("children") or ():
        yield from _walk(child, path)


def _depths(root: Json) -> dict[str, int]:
    return {level: len(path) for level, path in _walk(root)}


def _pictured(case: Json) -> World:
    """The cluster of a case that says in which domain each node is."""
    stated, levels = case["topology"], case["topology"]["levels"]
    nodes = []
    for name, one in case["nodes"].items():
        path = case.get("nodes_to_domains", {}).get(name, "").split(".")[::-1]
        labels = one.get("labels") or dict(zip(levels, path, strict=False))
        offer = {
            "gpus": one["gp_us"],
            "cpu_cores": one.get("cpu_millis", 0) / 1000,
            "max_pods": one["max_task_num"],
        }
        nodes.append(node_of(name, labels=labels, **offer))
    jobs = [*case.get("allocated_pod_groups", ()), case["job"]]
    return world(nodes, levels, name=stated["name"], jobs=[_pictured_job(job) for job in jobs])


def _pictured_job(job: Json) -> Json:
    each = {"cpu_cores": job.get("required_cp_us_per_task", 0) / 1000}
    tasks = [{**task, "gpus": task.get("required_gp_us", 0)} for task in job["tasks"]]
    constraint = constraint_of((job.get("root_sub_group_set") or {}).get("constraint") or {})
    return job_of(tasks, each=each, constraint=constraint, name=job["name"])


def constraint_of(stated: Json) -> Json:
    return {
        "topology": stated.get("topology", ""),
        "required": stated.get("required_level"),
        "preferred": stated.get("preferred_level"),
    }


def job_of(
    tasks: list[Json],
    *,
    each: Json | None = None,
    constraint: Json | None = None,
    name: str = "test-job",
) -> Json:
    named = [
        {**task, "name": f"{name}-{at}", "node": task.get("node_name", "")} for at, task in enumerate(tasks)
    ]
    tree: Json = {"name": "", "pod_sets": [{"name": "default", "min_available": len(tasks)}]}
    return {
        "name": name,
        "queue": "",
        "priority": 50,
        "preemptible": True,
        "age_minutes": 0,
        "requests_per_task": each or {},
        "subgroup_tree": {**tree, "topology_constraint": constraint} if constraint else tree,
        "tasks": named,
    }


def node_of(name: str, *, labels: Json, **offer: float) -> Json:
    return {"name": name, "gpus": 8, "cpu_cores": 8, "memory_bytes": 10**9, "labels": labels, **offer}


def world(nodes: list[Json], levels: Any, *, name: str = "t", jobs: list[Json] | None = None) -> World:
    cluster = {"nodes": nodes, "topologies": [{"name": name, "levels": list(levels)}]}
    return World({"cluster": cluster, "queues": [], "jobs": jobs or []})


def _level(snapshot: Snapshot, label: str) -> Level:
    return next(level for level in snapshot.levels if level.label == label)


def _upstream_id(domain: str) -> str:
    """Upstream writes the narrowest part first."""
    return ".".join(reversed(domain.split("/")))


def _compared(got: object, want: object) -> Outcome:
    return passed() if got == want else failed(f"{got!r}, expected {want!r}")


TABLES: dict[str, Callable[[Json], Outcome]] = {
    "TestIsNodePartOfTopology": _is_part,
    "TestLowestCommonDomainID": _lowest_common,
    "TestTopologyPlugin_calculateRelevantDomainLevels": _levels,
    "TestTopologyPlugin_subsetNodesFn": _subset,
    "TestTopologyPlugin_calcTreeAllocatable": _allocatable,
    "TestGetLevelDomains": _domains_of_level,
    "TestCalculateNodeScores": _scored,
    "TestSortTree": _sorted_tree,
}
