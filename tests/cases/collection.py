"""Find the cases in a directory, whatever its files are called: family and topic by path, else by content.

The runner asks for `CaseFile`s; adapters see one case and the topic (the name of the table it comes from).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

Json = dict[str, Any]

FAMILIES = ("kai", "gang", "grouper", "lws", "rbg")

# how each table of kai/unit and of lws describes itself, for directories whose files have other names
TOPIC_BY_ABOUT = {
    "limit check on one queue, with structured details": "capacity_limit",
    "job-level limit and non-preemptible-quota gate over a queue chain": "capacity_policy",
    "non-preemptible quota check on one queue": "capacity_quota",
    "job comparator by below/at/above minimum": "elastic_job_order",
    "fair share division": "fair_share_division",
    "pod group fit error texts": "job_errors",
    "job order across queues": "job_order_by_queue",
    "min runtime resolution": "min_runtime_resolution",
    "is job A easier to schedule than failed job B": "minimal_job",
    "pod fit error texts": "pod_errors",
    "PodGroup admission": "podgroup_admission",
    "pod group helpers": "podgroup_info",
    "leaf subgroup readiness and gang checks": "podset",
    "preemptibility resolution": "preemptibility",
    "proportion plugin helpers": "proportion",
    "dominant resource share": "queue_attributes",
    "queue comparator": "queue_order",
    "may this reclaimer reclaim at all": "reclaim",
    "MaintainFairShare and GuaranteeDeservedQuota": "reclaim_strategies",
    "subgroup comparator": "subgroup_order",
    "PodGroup spec to internal subgroup tree": "subgroup_tree",
    "which pending pods form the next allocation step": "tasks_to_allocate",
    "which pods form the next eviction step": "tasks_to_evict",
    "lowest common domain": "topology_common",
    "topology candidate domains": "topology_job_filtering",
    "topology node scores": "topology_node_scoring",
}


class CasesError(Exception):
    """The directory, or a file in it, is not in the format of the cases."""


@dataclass(frozen=True, slots=True)
class CaseFile:
    """One file of cases; `label` is what reports call it, `header` everything beside the cases."""

    label: str
    family: str
    topic: str
    header: Json
    fixtures: dict[str, list[Json]]
    cases: tuple[Json, ...]

    @property
    def context(self) -> Json:
        """What adapters see of the file: its header, its topic whatever its name is, shared fixtures."""
        return {**self.header, "topic": self.topic, "path": self.label, "fixtures": self.fixtures}

    def identity(self, index: int) -> str:
        """The case's own id, else the file and its name, else its place in the file."""
        case = self.cases[index]
        if "id" in case:
            return str(case["id"])
        return f"{self.topic}/{case.get('name') or case.get('case') or ''}#{index}"


def collect(directory: Path) -> list[CaseFile]:
    """Every file of cases under the directory, sorted by path."""
    if not directory.is_dir():
        raise CasesError(f"{directory} is not a directory; name one in the format of the cases")
    contents = [(path, _decode(path)) for path in sorted(directory.rglob("*.json"))]
    fixtures = {name: objects for _, content in contents for name, objects in _fixtures(content).items()}
    found = []
    for path, content in contents:
        cases = _cases(path, content)
        if cases is not None:
            header = {k: v for k, v in content.items() if k != "cases"} if isinstance(content, dict) else {}
            family = _family(path, header, cases)
            topic = _topic(path, family, header, cases)
            label = str(path.relative_to(directory))
            found.append(CaseFile(label, family, topic, header, fixtures, tuple(cases)))
    if not found:
        raise CasesError(f"no cases under {directory}: expected *.json files with a list `cases`")
    return found


def _decode(path: Path) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CasesError(f"{path} is not JSON: {error}; mend or remove it") from error
    except OSError as error:
        raise CasesError(f"{path} cannot be read: {error.strerror}") from error


def _cases(path: Path, content: Any) -> list[Json] | None:
    """The list of cases in a file; None for the fixtures, indexes and notes that lie beside them."""
    is_announced = isinstance(content, dict) and "cases" in content
    cases = content["cases"] if is_announced else content
    if isinstance(cases, list) and all(isinstance(case, dict) for case in cases):
        return cases
    if is_announced:
        raise CasesError(f"{path}: `cases` must be a list of objects; mend or remove the file")
    return None


def _fixtures(content: Any) -> dict[str, list[Json]]:
    """Named lists of objects that cases refer to."""
    if not isinstance(content, dict) or "cases" in content:
        return {}
    return {
        name: objects
        for name, objects in content.items()
        if isinstance(objects, list) and objects and all(isinstance(o, dict) and "kind" in o for o in objects)
    }


def _family(path: Path, header: Json, cases: list[Json]) -> str:
    by_content = _family_by_content(header, cases[0] if cases else {})
    by_path = next((part for part in reversed(path.parts[:-1]) if part in FAMILIES), "")
    return by_content or by_path or "unknown"


def _family_by_content(header: Json, first: Json) -> str:
    schema = str(header.get("schema", ""))
    if schema.startswith("grouper-") or {"owner", "pod", "ownerChain"} <= first.keys():
        return "grouper"
    if {"objects", "steps", "expect"} <= first.keys():
        return "grouper"
    if first.get("op") in {"start", "satisfied", "core"} and "gang" in first:
        return "gang"
    if {"run", "cluster", "queues", "jobs"} <= first.keys() or _described_topic(header):
        return "kai"
    if schema.startswith("research-case") or {"input", "expect", "source"} <= first.keys():
        return "rbg"
    return "lws" if "evidence" in header or "evidence" in first else ""


def _topic(path: Path, family: str, header: Json, cases: list[Json]) -> str:
    if cases and {"run", "cluster", "queues", "jobs"} <= cases[0].keys():
        return "scheduling"
    if family == "grouper":
        return "metadata" if cases and "ownerChain" in cases[0] else "reconcile"
    by_group = str(header.get("group", "")) if family == "rbg" else ""
    return by_group or _described_topic(header) or path.stem


def _described_topic(header: Json) -> str:
    about = str(header.get("about", ""))
    return next((topic for start, topic in TOPIC_BY_ABOUT.items() if about.startswith(start)), "")
