"""Which adapter runs which cases: one literal table by family and topic.

An adapter is a module with `run(case, file) -> Outcome`, where `file` is the context of the case's file. The
runner asks `adapter_for`; an adapter that is not there yet makes its cases unsupported, by feature.
"""

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from tests.cases.collection import CaseFile
from tests.cases.outcome import Outcome, unsupported

Json = dict[str, Any]
Adapter = Callable[[Json, Json], Outcome]

ANY = "*"

# (family, topic, op) -> (module under tests.cases, the feature it shows)
TABLE: tuple[tuple[str, str, str, str, str], ...] = (
    ("gang", ANY, "start", "gang_start", "starting gang trees"),
    ("gang", ANY, "satisfied", "gang_rules", "rules of gang trees"),
    ("gang", ANY, "core", "gang_rules", "rules of gang trees"),
    ("grouper", ANY, ANY, "grouper", "pod grouper"),
    ("kai", "scheduling", ANY, "kai_scheduling", "whole scheduling cycles"),
    ("kai", "podgroup_admission", ANY, "kai_units_rules", "PodGroup admission"),
    ("kai", "preemptibility", ANY, "kai_units_rules", "preemptibility"),
    ("kai", "subgroup_tree", ANY, "kai_units_rules", "gang trees"),
    ("kai", "tasks_to_evict", ANY, "kai_units_rules", "victims of a gang"),
    ("kai", "tasks_to_allocate", ANY, "kai_units_rules", "next unit of a gang"),
    ("kai", "podset", ANY, "kai_units_rules", "rules of leaves"),
    ("kai", "podgroup_info", ANY, "kai_units_rules", "facts of PodGroups"),
    ("kai", "subgroup_order", ANY, "kai_units_rules", "order of groups"),
    ("kai", "elastic_job_order", ANY, "kai_units_world", "order of gangs"),
    ("kai", "proportion", ANY, "kai_units_world", "shares of a cluster"),
    ("kai", "minimal_job", ANY, "kai_units_easier", "order of tries"),
    ("kai", "topology_common", ANY, "kai_units_topology", "topologies"),
    ("kai", "topology_job_filtering", ANY, "kai_units_domains", "topologies"),
    ("kai", "topology_node_scoring", ANY, "kai_units_topology", "topologies"),
    ("kai", "job_errors", ANY, "kai_units_texts", "texts of refusals"),
    ("kai", "pod_errors", ANY, "kai_units_texts", "texts of refusals"),
    ("kai", ANY, ANY, "kai_units_fair", "queues and fairness"),
    ("lws", "lws_validation", ANY, "lws_admission", "LeaderWorkerSet admission"),
    ("lws", "lws_defaulting", ANY, "lws_admission", "LeaderWorkerSet admission"),
    ("lws", "sub_group_index", ANY, "lws_segments", "sub-groups of LeaderWorkerSets"),
    ("lws", "group_key", ANY, "lws_pods", "keys of LeaderWorkerSets"),
    ("lws", "tpu_env", ANY, "lws_pods", "TPU environment of LeaderWorkerSets"),
    ("lws", "exclusive_placement", ANY, "lws_pods", "exclusive placement of LeaderWorkerSets"),
    ("lws", "pod_admission", ANY, "lws_pods", "pods of LeaderWorkerSets"),
    ("lws", "revisions_and_names", ANY, "lws_revisions", "revisions of LeaderWorkerSets"),
    ("lws", "owned_sets", ANY, "lws_elsewhere", "StatefulSets of LeaderWorkerSets"),
    ("lws", "volcano_pod_group", ANY, "lws_elsewhere", "Volcano"),
    ("lws", "disaggregated_planner", ANY, "lws_elsewhere", "DisaggregatedSet"),
    ("lws", "disaggregated_set", ANY, "lws_elsewhere", "DisaggregatedSet"),
    ("lws", "rollout_scenarios", ANY, "lws_scenarios", "whole rollouts of LeaderWorkerSets"),
    ("lws", ANY, ANY, "lws_rollout", "rollouts and restarts of LeaderWorkerSets"),
    ("rbg", ANY, "validate_group_name", "rbg_admission", "RoleBasedGroup admission"),
    ("rbg", ANY, "validate_rolling_update", "rbg_admission", "RoleBasedGroup admission"),
    ("rbg", ANY, "validate_role_templates", "rbg_admission", "RoleBasedGroup admission"),
    ("rbg", ANY, "dependency_levels", "rbg_admission", "order of roles"),
    ("rbg", "segment_placement", ANY, "rbg_segments", "segment placement"),
    ("rbg", "segment_placement_trajectory", ANY, "rbg_segments", "segment placement"),
    ("rbg", "segment_conditions", ANY, "rbg_segments", "segment placement"),
    ("rbg", "coordinated_rollout", ANY, "rbg_policies", "coordinated policies"),
    ("rbg", "coordinated_scaling", ANY, "rbg_policies", "coordinated policies"),
    ("rbg", "coordinated_scaling_multi", ANY, "rbg_policies", "coordinated policies"),
    ("rbg", "coordinated_scaling_parse", ANY, "rbg_policies", "coordinated policies"),
    ("rbg", "dependency_order", ANY, "rbg_roles", "order of components"),
    ("rbg", "restart_policy", ANY, "rbg_roles", "restarts of instances"),
    ("rbg", "discovery", ANY, "rbg_roles", "discovery"),
    ("rbg", "gang_podgroup", ANY, "rbg_gangs", "gangs of whole groups"),
    ("rbg", "rollout_arithmetic", ANY, "rbg_roles", "arithmetic of rollouts"),
    ("rbg", "instance_rollout", "max_unavailable", "rbg_roles", "arithmetic of rollouts"),
    ("rbg", "instance_rollout", ANY, "rbg_rollout", "rollout of instances"),
    ("rbg", "validation", ANY, "rbg_roles", "what roles default to"),
)


def adapter_for(file: CaseFile, case: Json) -> Adapter:
    for family, topic, op, module, feature in TABLE:
        if family == file.family and topic in (ANY, file.topic) and op in (ANY, case.get("op")):
            return _load(module, feature)
    return _missing(f"cases of family {file.family!r}")


def _load(module: str, feature: str) -> Adapter:
    name = f"tests.cases.{module}"
    if importlib.util.find_spec(name) is None:
        return _missing(feature)
    adapter: Adapter = importlib.import_module(name).run
    return adapter


def _missing(feature: str) -> Adapter:
    return lambda _case, _file: unsupported(feature)
