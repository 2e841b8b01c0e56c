"""KAI's table of the domains that could take a job, run on production levels, homes and candidates.

A domain that is drawn without children is one node with as many GPUs as the pods it is said to take, beside
those that run there. A drawing whose numbers contradict each other is no cluster.
"""

from typing import Any

from quorate.scheduling import topology
from quorate.scheduling.agenda import Start
from quorate.scheduling.placement import Search
from quorate.scheduling.policy import Policy, new_trial
from quorate.scheduling.snapshot import NONE, Snapshot
from quorate.scheduling.topology import ANYWHERE
from tests.cases import kai_units_topology
from tests.cases.deviations import Mismatch, explain
from tests.cases.kai_units_topology import constraint_of, job_of, node_of, world
from tests.cases.kai_world import NOW
from tests.cases.outcome import Outcome, deviating, failed, passed

Json = dict[str, Any]
DOMAINS = "TestTopologyPlugin_getJobAllocatableDomains"


def run(case: Json, file: Json) -> Outcome:
    return _domains(case) if case["function"] == DOMAINS else kai_units_topology.run(case, file)


def _domains(case: Json) -> Outcome:
    tree = case["topology_tree"]
    levels = [one["node_label"] for one in tree["topology_resource"]["spec"]["levels"]]
    drawn = [one for domains in tree["domains_by_level"].values() for one in domains.values()]
    reason = explain(Mismatch("job_allocatable_domains", case, case["expected_domains"], drawn))
    if reason:
        return deviating(reason)
    got = _candidates(_snapshot(case["job"], levels, drawn))
    want = {one["id"]: one["level"] for one in case.get("expected_domains") or ()}
    return passed() if got == want else failed(f"{got}, expected {want}")


def _candidates(snapshot: Snapshot) -> dict[str, str]:
    """The level of every domain that could take what waits, by upstream's name of the domain."""
    trial = new_trial(snapshot, Policy())
    demands = Search(trial, 0, now=True, is_exact=False).demands(Start(0))
    found = {}
    for row in topology.tried_levels(snapshot, 0):
        if row == NONE:
            continue
        level = snapshot.levels[row]
        at_home = topology.home(trial, 0, row).tolist()
        for domain in at_home or topology.candidates(trial, row, ANYWHERE, demands):
            found[".".join(reversed(level.domains[domain].split("/")))] = level.label
    return found


def _snapshot(job: Json, levels: list[str], drawn: list[Json]) -> Snapshot:
    nodes = []
    for one in leaves(drawn):
        path = one["id"].split(".")[::-1]
        at = levels.index(one["level"])
        labels = dict.fromkeys(levels, "all") | dict(
            zip(levels[at + 1 - len(path) : at + 1], path, strict=True)
        )
        names = list(one.get("nodes") or {}) or [one["id"]]
        running = sum(task.get("node_name") in names for task in job["tasks"])
        nodes.append(node_of(names[0], labels=labels, gpus=one["allocatable_pods"] + running))
    constraint = constraint_of(job["root_sub_group_set"]["constraint"] or {})
    made = job_of(job["tasks"], each={"gpus": 1}, constraint={**constraint, "topology": "t"})
    return world(nodes, levels, jobs=[made]).encoder.snapshot(NOW)


def leaves(drawn: list[Json]) -> list[Json]:
    """Domains with nothing drawn below them."""
    return [one for one in drawn if not any(other["id"].endswith(f".{one['id']}") for other in drawn)]
