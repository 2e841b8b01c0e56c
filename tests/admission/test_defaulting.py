from typing import Any

import pytest

from quorate.admission.defaulting import patch
from quorate.api import labels
from quorate.api.lws import LEADER_WORKER_SET
from quorate.api.podgroup import POD_GROUP, POD_GROUP_ALIAS
from quorate.api.queue import QUEUE


@pytest.mark.parametrize("kind", [POD_GROUP, POD_GROUP_ALIAS])
def test_a_gang_without_a_queue_gets_the_one_of_its_label_or_the_default_one(kind: Any) -> None:
    labelled = {"metadata": {"labels": {labels.QUEUE: "research"}}, "spec": {"minMember": 1}}
    assert patch(kind, labelled) == ({"op": "add", "path": "/spec/queue", "value": "research"},)
    assert patch(kind, {"metadata": {}}) == (
        {"op": "add", "path": "/spec", "value": {"queue": "default-queue"}},
    )


@pytest.mark.parametrize("new", [{"spec": {"queue": "mine"}}, {"spec": "no object"}])
def test_what_is_said_stays(new: Any) -> None:
    assert patch(POD_GROUP, new) == ()


def test_other_kinds_stay_as_they_are() -> None:
    assert patch(QUEUE, {"spec": {}}) == ()


def test_a_set_has_one_name_for_no_restarts_and_says_where_its_addresses_are() -> None:
    group = {"size": 2, "restartPolicy": "Default"}
    rollout = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"partition": 1}}
    assert patch(
        LEADER_WORKER_SET, {"spec": {"leaderWorkerTemplate": group, "rolloutStrategy": rollout}}
    ) == (
        {
            "op": "add",
            "path": "/spec/leaderWorkerTemplate",
            "value": {"size": 2, "restartPolicy": "None"},
        },
        {"op": "add", "path": "/spec/networkConfig", "value": {"subdomainPolicy": "Shared"}},
    )


@pytest.mark.parametrize("new", [{}, {"spec": None}, {"spec": {}}, {"spec": "no object"}])
def test_a_set_that_is_none_is_left_to_the_schema(new: Any) -> None:
    assert patch(LEADER_WORKER_SET, new) == ()
