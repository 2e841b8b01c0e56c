"""What is wrong about a LeaderWorkerSet, and what is filled in before that is asked.

Texts and paths are upstream's. Refused beyond upstream: sub-groups without a size of at least 1, names that
leave no room for the names of pods, claims without a name, annotations that nobody could read, and shapes for
which TPUs cannot be numbered.
"""

import re
from collections.abc import Iterator

from quorate.admission.lwsnotes import note_faults, note_warnings
from quorate.admission.podtemplates import containers, object_at, objects_at
from quorate.admission.rollout import budget_faults, invalid, scaled
from quorate.admission.surroundings import NOTHING_KNOWN, Surroundings
from quorate.admission.tpu import tpu_faults
from quorate.api.described import DNS_LABEL, INT32_MAX
from quorate.api.labels import LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY
from quorate.api.lws import (
    GROUP_SIZE,
    LEADER_ADDRESS,
    MAX_REPLICAS,
    WORKER_INDEX,
    LeaderWorkerSet,
    SubGroupPolicy,
)
from quorate.api.meta import Json
from quorate.rules.validity import Cause, Fault, Findings

_DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_DNS_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
    "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_DNS_1123 = re.compile(DNS_LABEL)
_LONGEST = 63  # of a label, and so of a host name

_OWN_VARIABLES = {LEADER_ADDRESS, GROUP_SIZE, WORKER_INDEX}
_ROLLING = "spec.rolloutStrategy.rollingUpdateConfiguration"
_SUB_GROUP_SIZE = "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize"  # upstream's spelling


def defaulted(spec: Json) -> Json:
    """The spec as admission completes it, after the defaults of the schema."""
    template = dict(spec.get("leaderWorkerTemplate") or {})
    policy = template.get("restartPolicy") or "RecreateGroupOnPodRestart"
    template["restartPolicy"] = "None" if policy == "Default" else policy
    strategy = dict(spec.get("rolloutStrategy") or {})
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    if strategy.get("rollingUpdateConfiguration") is None:
        strategy["rollingUpdateConfiguration"] = {"partition": 0, "maxUnavailable": 1, "maxSurge": 0}
    network = dict(spec.get("networkConfig") or {})
    network["subdomainPolicy"] = network.get("subdomainPolicy") or "Shared"
    return {
        **spec,
        "leaderWorkerTemplate": template,
        "rolloutStrategy": strategy,
        "networkConfig": network,
    }


def review(
    new: LeaderWorkerSet, old: LeaderWorkerSet | None = None, around: Surroundings = NOTHING_KNOWN
) -> Findings:
    del around  # a set stands alone
    errors = (
        *_name_faults(new),
        *_size_faults(new),
        *_rollout_faults(new),
        *_sub_group_faults(new),
        *_claim_faults(new),
        *note_faults(new),
        *(_change_faults(new, old) if old is not None else ()),
        *tpu_faults(new),
    )
    return Findings(errors, (*note_warnings(new), *_variable_warnings(new)))


def _name_faults(new: LeaderWorkerSet) -> Iterator[Fault]:
    name = new.metadata.name
    if not _DNS_1035.fullmatch(name):
        yield invalid("metadata.name", name, _DNS_1035_TEXT)
        return
    if len(name) > _LONGEST:
        yield invalid("metadata.name", name, f"must be no more than {_LONGEST} characters")
        return
    size = new.spec.leader_worker_template.size
    last = f"-{_highest_group(new)}" + (f"-{size - 1}" if size > 1 else "")
    room = _LONGEST - len(last)
    if len(name) > room:
        text = f'its last pod would be named "{name}{last}", longer than a host name: use at most {room} characters'
        yield invalid("metadata.name", name, text)


def _highest_group(new: LeaderWorkerSet) -> int:
    """The highest index a group can have, also while a rollout adds some."""
    replicas = new.spec.replicas
    surge = scaled(new.spec.rollout_strategy.rolling_update_configuration.max_surge, replicas, up=True) or 0
    return max(0, replicas + min(max(surge, 0), replicas) - 1)


def _size_faults(new: LeaderWorkerSet) -> Iterator[Fault]:
    replicas, size = new.spec.replicas, new.spec.leader_worker_template.size
    if replicas < 0:
        yield invalid("spec.replicas", replicas, "replicas must be equal or greater than 0")
    if replicas > MAX_REPLICAS:
        yield invalid("spec.replicas", replicas, f"replicas must be equal or less than {MAX_REPLICAS}")
    if size < 1:
        yield invalid("spec.leaderWorkerTemplate.size", size, "size must be equal or greater than 1")
    if replicas * size > INT32_MAX:
        text = f"the product of replicas and worker replicas must not exceed {INT32_MAX}"
        yield invalid("spec.replicas", replicas, text)


def _rollout_faults(new: LeaderWorkerSet) -> Iterator[Fault]:
    rolling = new.spec.rollout_strategy.rolling_update_configuration
    yield from budget_faults(_ROLLING, rolling.max_unavailable, rolling.max_surge, new.spec.replicas)
    if rolling.partition < 0:
        yield invalid(f"{_ROLLING}.partition", rolling.partition, "must be greater than or equal to 0")


def _sub_group_faults(new: LeaderWorkerSet) -> Iterator[Fault]:
    policy = new.spec.leader_worker_template.sub_group_policy
    if policy is not None:
        yield from _policy_faults(policy, new.spec.leader_worker_template.size)
        return
    topology = new.metadata.annotation(LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY)
    if topology:
        field = f"metadata.annotations.{LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY}"
        yield invalid(field, topology, "cannot have subgroup-exclusive-topology without subGroupSize set")


def _claim_faults(new: LeaderWorkerSet) -> Iterator[Fault]:
    """Each claim becomes a volume of its name."""
    claims = new.spec.leader_worker_template.volume_claim_templates or []
    seen: set[str] = set()
    for at, claim in enumerate(claims):
        place = f"spec.leaderWorkerTemplate.volumeClaimTemplates[{at}].metadata.name"
        name = str(object_at(claim, "metadata").get("name") or "")
        if not name:
            yield Fault(place, "Required value: the name of the volume that is claimed", Cause.VALUE)
        elif name in seen:
            yield Fault(place, f'Duplicate value: "{name}"', Cause.VALUE)
        elif len(name) > _LONGEST or not _DNS_1123.fullmatch(name):
            text = "must be the name of a volume: lower case letters, digits and '-', at most 63 characters"
            yield invalid(place, name, text)
        seen.add(name)


def _variable_warnings(new: LeaderWorkerSet) -> Iterator[Fault]:
    """What a template sets and no container will have."""
    template = new.spec.leader_worker_template
    pods = {"leaderTemplate": template.leader_template, "workerTemplate": template.worker_template}
    for name, tree in pods.items():
        for place, container in containers(tree):
            for own in [
                each["name"] for each in objects_at(container, "env") if each.get("name") in _OWN_VARIABLES
            ]:
                text = f"{own} is set for every container, so this value is not used"
                yield Fault(f"spec.leaderWorkerTemplate.{name}.{place}.env", text, Cause.VALUE)


def _policy_faults(policy: SubGroupPolicy, size: int) -> Iterator[Fault]:
    k = policy.sub_group_size
    if k is None or k < 1:
        yield invalid(_SUB_GROUP_SIZE, k, "subGroupSize must be equal or greater than 1")
        return
    if size % k and (size - 1) % k:
        yield invalid(_SUB_GROUP_SIZE, k, "size or size - 1 must be divisible by subGroupSize")
    if k > size:
        yield invalid(_SUB_GROUP_SIZE, k, "subGroupSize cannot be larger than size")
    if policy.sub_group_policy_type == "LeaderExcluded" and (size - 1) % k:
        yield invalid(
            _SUB_GROUP_SIZE, k, "size-1 must be divisible by subGroupSize when using LeaderExcluded"
        )


def _change_faults(new: LeaderWorkerSet, old: LeaderWorkerSet) -> Iterator[Fault]:
    before = old.spec.leader_worker_template.sub_group_policy
    after = new.spec.leader_worker_template.sub_group_policy
    if before is None and after is not None:
        text = "cannot enable subGroupSize after the lws is already created"
        yield invalid(_SUB_GROUP_SIZE, after.sub_group_size or 0, text)
    elif before is not None and after is None:
        text = "cannot remove subGroupSize after enabled"
        yield invalid(_SUB_GROUP_SIZE, before.sub_group_size or 0, text)
    elif before is not None and after is not None and before.sub_group_size != after.sub_group_size:
        yield invalid(_SUB_GROUP_SIZE, after.sub_group_size or 0, "field is immutable")
