"""Where pods of LeaderWorkerSets differ from upstream's on purpose; see `deviations`."""

from typing import Any

from tests.cases.deviations import Mismatch, Rule

Json = dict[str, Any]


def _is_unsound(m: Mismatch) -> bool:
    return m.case.get("sound") is False


def _crosses_sub_groups(m: Mismatch) -> bool:
    """TPUs on workers only, in sub-groups that count the leader."""
    given = m.case.get("in") or {}
    said = given.get("annotations") or {}
    size, part = int(said.get("size", 0)), int(said.get("subgroup-size", 0))
    is_leader = (given.get("labels") or {}).get("worker-index") == "0"
    is_excluded = said.get("subgroup-policy-type") == "LeaderExcluded"
    on_leader = is_leader or said.get("leader-requests-tpus") == "true"
    return part > 1 and size % part == 0 and not on_leader and not is_excluded


def _is_error(m: Mismatch) -> bool:
    return isinstance(m.expected, dict) and "error" in m.expected


def _is_volcano(m: Mismatch) -> bool:
    wanted = (m.case.get("out") or {}).get("annotations") or {}
    return "scheduling.k8s.io/group-name" in wanted


def _is_key_of_nobody(m: Mismatch) -> bool:
    """A worker that does not say who its leader is: upstream then hashes the empty name."""
    said = (m.case.get("in") or {}).get("annotations") or {}
    keys = [pair for path, pair in m.differences.items() if path.endswith("subgroup-key")]
    return "leader-name" not in said and bool(keys) and all(d == keys[0] for d in m.differences.values())


MADE_WHOLE = Rule(
    "pods made whole",
    "the controller makes pods with all they need, so no pod arrives that lacks it or is not its own",
    lambda m: _is_error(m) or m.expected == "untouched",
)
UNSOUND = Rule(
    "sound TPU ids",
    "hosts and ids are those of the labelled sub-group; shapes that have none are refused at admission",
    lambda m: _is_unsound(m) or _crosses_sub_groups(m),
)
NEVER_OFF = Rule(
    "exclusive whatever else",
    "a user's own terms on the topology never switch exclusive placement off",
    lambda m: m.expected is True or bool((m.case.get("in") or {}).get("affinity")),
)

RULES: dict[str, tuple[Rule, ...]] = {
    "lws_tpu": (UNSOUND, MADE_WHOLE),
    "lws_admission": (
        MADE_WHOLE,
        UNSOUND,
        NEVER_OFF,
        Rule("leaders by name", "every worker knows its leader", _is_key_of_nobody),
        Rule("no Volcano", "gangs are PodGroups of our scheduler", _is_volcano),
    ),
    "lws_exclusive": (NEVER_OFF,),
    "lws_sets": (Rule("no StatefulSets", "the controller owns pods directly", lambda m: m.got is None),),
    "lws_positions": (
        Rule(
            "groups by index", "groups are looked up by index, so no list is padded", lambda m: m.got is None
        ),
    ),
    "lws_volcano": (Rule("no Volcano", "gangs are PodGroups of our scheduler", lambda m: m.got is None),),
}
