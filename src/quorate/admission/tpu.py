"""Shapes of a LeaderWorkerSet for which no consistent set of TPU worker ids and host names exists.

With sub-groups, hosts and ids are counted from the worker index alone. That fits only where the leader's TPU
and the cut of the sub-groups agree; upstream admits the other shapes and then starts them wrong, or never.
"""

from collections.abc import Iterator

from quorate.admission.podtemplates import containers, object_at
from quorate.api.labels import TPU_RESOURCE
from quorate.api.lws import LeaderWorkerSet
from quorate.api.meta import Json
from quorate.rules.segments import leads_extra
from quorate.rules.validity import Cause, Fault

_FIELD = "spec.leaderWorkerTemplate.subGroupPolicy"


def tpu_faults(new: LeaderWorkerSet) -> Iterator[Fault]:
    template = new.spec.leader_worker_template
    policy = template.sub_group_policy
    if policy is None or not policy.sub_group_size or template.size < 2:
        return
    on_workers = asks_for_tpu(template.worker_template)
    leader = template.worker_template if template.leader_template is None else template.leader_template
    on_leader = asks_for_tpu(leader)
    text = ""
    if policy.sub_group_policy_type == "LeaderExcluded":
        if on_leader:
            text = "a leader outside all sub-groups cannot have TPUs: remove them from the leader template"
    elif policy.sub_group_size > 1:
        if leads_extra(template.size, policy.sub_group_size):
            if on_leader:
                text = "the leader is one too many in its sub-group to have TPUs: make size a multiple of it"
        elif on_workers and not on_leader:
            text = "the first sub-group counts a leader without TPUs: use LeaderExcluded with one pod more"
    if text:
        yield Fault(_FIELD, f"{TPU_RESOURCE}: {text}", Cause.IMPOSSIBLE)


def asks_for_tpu(template: Json) -> bool:
    """Limits count before requests, and 0 is none."""
    for _, container in containers(template):
        resources = object_at(container, "resources")
        asked = [object_at(resources, part).get(TPU_RESOURCE) for part in ("limits", "requests")]
        amount = next((amount for amount in asked if amount is not None), 0)
        if str(amount) != "0":
            return True
    return False
