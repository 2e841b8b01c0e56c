import pytest

from quorate.admission.lws import defaulted, review
from quorate.api.labels import (
    DISRUPTION_BUDGET,
    LWS_EXCLUSIVE_TOPOLOGY,
    LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY,
    MAX_GROUP_RESTARTS,
    MIN_GROUPS,
    PAUSED,
    RESTART_BACKOFF,
    SCALE_DOWN,
)
from quorate.api.lws import (
    LeaderWorkerSet,
    LeaderWorkerSetSpec,
    LeaderWorkerTemplate,
    RollingUpdateConfiguration,
    RolloutStrategy,
    SubGroupPolicy,
)
from quorate.api.meta import Json, ObjectMeta

PLAIN: Json = {"spec": {"containers": [{"name": "a"}]}}
TPU: Json = {"spec": {"containers": [{"name": "a", "resources": {"limits": {"google.com/tpu": "4"}}}]}}


def lws(
    size: int = 4,
    k: int | None = None,
    *,
    kind: str = "LeaderWorker",
    leader: Json | None = None,
    workers: Json = PLAIN,
    name: str = "serve",
) -> LeaderWorkerSet:
    policy = SubGroupPolicy(sub_group_policy_type=kind, sub_group_size=k)
    template = LeaderWorkerTemplate(
        size=size,
        leader_template=leader,
        worker_template=workers,
        sub_group_policy=None if k is None else policy,
    )
    return LeaderWorkerSet(
        metadata=ObjectMeta(name=name), spec=LeaderWorkerSetSpec(leader_worker_template=template)
    )


def messages(new: LeaderWorkerSet, old: LeaderWorkerSet | None = None) -> list[str]:
    return [fault.message for fault in review(new, old).errors]


def test_a_sound_set_passes() -> None:
    assert messages(lws(5, 2)) == []


@pytest.mark.parametrize(
    ("size", "k", "kind", "leader", "text"),
    [
        (5, 2, "LeaderExcluded", TPU, "a leader outside all sub-groups cannot have TPUs"),
        (5, 2, "LeaderWorker", TPU, "the leader is one too many in its sub-group to have TPUs"),
        (4, 2, "LeaderWorker", PLAIN, "the first sub-group counts a leader without TPUs"),
        (5, 2, "LeaderExcluded", PLAIN, ""),
        (4, 2, "LeaderWorker", TPU, ""),
        (5, 2, "LeaderWorker", PLAIN, ""),
        (4, 1, "LeaderWorker", PLAIN, ""),
    ],
)
def test_shapes_that_cannot_number_tpus_are_refused(
    size: int, k: int, kind: str, leader: Json, text: str
) -> None:
    found = messages(lws(size, k, kind=kind, leader=leader, workers=TPU))
    assert (found == []) if not text else found[0].startswith(f"google.com/tpu: {text}")


def test_sub_groups_need_a_size() -> None:
    assert messages(lws(4, 0)) == ["Invalid value: 0: subGroupSize must be equal or greater than 1"]


def test_sub_groups_come_and_go_only_with_the_set() -> None:
    assert messages(lws(4, 2), lws(4)) == [
        "Invalid value: 2: cannot enable subGroupSize after the lws is already created"
    ]
    assert messages(lws(4), lws(4, 2)) == ["Invalid value: 2: cannot remove subGroupSize after enabled"]


def test_a_name_leaves_room_for_its_pods() -> None:
    assert messages(lws(name="a" * 59)) == []
    (text,) = messages(lws(name="a" * 60))
    assert text.endswith('-0-3", longer than a host name: use at most 59 characters')


def test_every_fault_of_a_rollout_is_told() -> None:
    new = lws()
    rolling = RollingUpdateConfiguration(max_unavailable="abc", max_surge=-1, partition=-1)
    new.spec.rollout_strategy = RolloutStrategy(rolling_update_configuration=rolling)
    assert [fault.field.rpartition(".")[2] for fault in review(new).errors] == [
        "maxUnavailable",
        "maxSurge",
        "maxUnavailable",
        "partition",
    ]


def test_defaults_keep_what_is_set() -> None:
    spec = {"leaderWorkerTemplate": {"size": 2, "restartPolicy": "Default"}, "replicas": 3}
    assert defaulted(spec) == {
        "replicas": 3,
        "leaderWorkerTemplate": {"size": 2, "restartPolicy": "None"},
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"partition": 0, "maxUnavailable": 1, "maxSurge": 0},
        },
        "networkConfig": {"subdomainPolicy": "Shared"},
    }


SHORT = {
    "budget": DISRUPTION_BUDGET,
    "group": LWS_EXCLUSIVE_TOPOLOGY,
    "sub": LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY,
    "minimum": MIN_GROUPS,
    "restarts": MAX_GROUP_RESTARTS,
    "backoff": RESTART_BACKOFF,
    "down": SCALE_DOWN,
    "paused": PAUSED,
}


def annotated(new: LeaderWorkerSet, **annotations: str) -> LeaderWorkerSet:
    new.metadata.annotations = {SHORT[key]: value for key, value in annotations.items()}
    return new


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("group", "no label!", "must be the key of a node label"),
        ("group", "example.com/a/b", "must be the key of a node label"),
        ("minimum", "some", 'as "3"'),
        ("minimum", "0", 'as "3"'),
        ("restarts", "-1", 'as "5"'),
        ("backoff", "30", 'as "30/600"'),
        ("down", "sickest", 'must be "unready-first"'),
        ("paused", "yes", 'must be "true" or "false"'),
    ],
)
def test_an_annotation_that_says_nothing_is_refused_with_what_it_could_say(
    key: str, value: str, wanted: str
) -> None:
    (fault,) = review(annotated(lws(), **{key: value})).errors
    assert fault.field == f"metadata.annotations.{SHORT[key]}"
    assert f'"{value}"' in fault.message
    assert wanted in fault.message


def test_annotations_that_say_something_pass() -> None:
    notes = {"group": "cloud.google.com/gke-nodepool", "minimum": "1", "restarts": "0", "paused": "false"}
    found = review(annotated(lws(), **notes, down="unready-first", budget="0"))
    assert not found.errors
    assert not found.warnings


def test_more_groups_to_start_than_there_are_is_warned_about() -> None:
    found = review(annotated(lws(), minimum="2"))
    assert not found.errors
    assert "2 groups have to start together, but spec.replicas is 1" in found.warnings[0].message


def test_a_variable_that_the_controller_sets_is_warned_about() -> None:
    env = [{"name": "LWS_GROUP_SIZE", "value": "9"}, {"name": "MODE", "value": "fast"}]
    found = review(lws(workers={"spec": {"containers": [{"name": "a"}, {"name": "b", "env": env}]}}))
    assert not found.errors
    assert [str(fault) for fault in found.warnings] == [
        (
            "spec.leaderWorkerTemplate.workerTemplate.spec.containers[1].env: "
            "LWS_GROUP_SIZE is set for every container, so this value is not used"
        )
    ]


def test_claims_have_a_name_of_their_own() -> None:
    new = lws()
    names = ("data", "data", "", "Data")
    new.spec.leader_worker_template.volume_claim_templates = [
        {"metadata": {"name": name}} if name else {} for name in names
    ]
    found = review(new).errors
    assert [fault.field[-16:] for fault in found] == [f"[{at}].metadata.name"[-16:] for at in (1, 2, 3)]
    texts = ("Duplicate value", "Required value", "Invalid value")
    assert all(fault.message.startswith(text) for fault, text in zip(found, texts, strict=True))


@pytest.mark.parametrize("text", ["-1", "half", "1.5"])
def test_a_budget_that_is_no_amount_is_refused_with_what_would_be_one(text: str) -> None:
    (message,) = messages(annotated(lws(), budget=text))
    assert text in message
    assert '"25%"' in message


@pytest.mark.parametrize("text", ["0", "3", "25%"])
def test_a_budget_is_a_number_or_a_percentage(text: str) -> None:
    assert not messages(annotated(lws(), budget=text))


def test_sub_groups_that_cannot_each_have_a_domain_of_their_own_are_warned_about() -> None:
    findings = review(annotated(lws(size=4, k=2), group="rack", sub="rack"))
    assert not findings.errors
    assert "2 sub-groups cannot have a rack each" in findings.warnings[0].message
    assert not review(annotated(lws(size=4, k=2), group="block", sub="rack")).warnings
    assert not review(annotated(lws(size=4, k=4), group="rack", sub="rack")).warnings


def test_a_name_leaves_room_for_the_groups_that_a_rollout_adds() -> None:
    new = lws(size=1, name="a" * 61)
    new.spec.replicas = 10
    assert not messages(new)
    new.spec.rollout_strategy.rolling_update_configuration = RollingUpdateConfiguration(max_surge=1)
    assert "-10" in messages(new)[0]
