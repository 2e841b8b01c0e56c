"""What stands around the pods of a set: Services, claims and budgets."""

from typing import Any

from quorate.api import labels
from quorate.workloads.lws.blueprint import Blueprint
from quorate.workloads.lws.budget import budget_of
from quorate.workloads.lws.claims import claims_of, disposable, owners
from quorate.workloads.lws.names import Place
from quorate.workloads.lws.services import services_of
from tests.fakes.lws_world import LwsWorld, lws

Json = dict[str, Any]


def blueprint(**template: Any) -> Blueprint:
    world = LwsWorld()
    network = template.pop("networkConfig", None)
    item = lws("llm", size=4, **template)
    item["spec"] |= {"networkConfig": network} if network else {}
    world.add(item)
    return world.blueprint("llm")


def test_groups_share_one_service_that_names_pods_before_they_are_ready() -> None:
    shared = blueprint()
    found = services_of((shared, group) for group in range(3))
    assert list(found) == ["llm"]
    assert found["llm"]["spec"] == {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {labels.LWS_NAME: "llm"},
    }


def test_groups_of_two_revisions_have_the_services_that_each_needs() -> None:
    unique = blueprint(networkConfig={"subdomainPolicy": "UniquePerReplica"})
    found = services_of([(blueprint(), 0), (unique, 1), (unique, 2)])
    assert sorted(found) == ["llm", "llm-1", "llm-2"]
    assert found["llm-2"]["spec"]["selector"] == {labels.LWS_NAME: "llm", labels.LWS_GROUP_INDEX: "2"}


CLAIM = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "x"}}


def claiming(**retention: str) -> Blueprint:
    return blueprint(volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=retention)


def test_claims_are_named_by_template_and_pod_and_carry_what_upstream_carries() -> None:
    (claim,) = claims_of(claiming(), Place(1, 2))
    assert claim["metadata"]["name"] == "data-llm-1-2"
    assert claim["spec"] == {"accessModes": ["ReadWriteOnce"]}


def test_claims_stay_unless_the_policy_says_otherwise() -> None:
    (claim,) = claims_of(claiming(), Place(1, 0))
    assert claim["metadata"]["ownerReferences"] == []
    assert disposable(claiming(), [claim], groups=[0]) == []


def test_claims_go_with_their_set_through_an_owner() -> None:
    (claim,) = claims_of(claiming(whenDeleted="Delete"), Place(1, 0))
    assert [owner["uid"] for owner in claim["metadata"]["ownerReferences"]] == ["uid-llm"]


def test_a_changed_policy_changes_our_owner_and_no_other() -> None:
    other = {"uid": "other", "kind": "ConfigMap", "name": "a", "apiVersion": "v1"}
    kept = owners(claiming(whenDeleted="Delete"), [other])
    assert [owner["uid"] for owner in kept] == ["other", "uid-llm"]
    assert owners(claiming(), kept) == [other]


def test_claims_of_groups_that_are_gone_go_where_the_policy_says_so() -> None:
    deleting = claiming(whenScaled="Delete")
    claims = [claim for group in range(3) for claim in claims_of(deleting, Place(group, 0))]
    assert [claim["metadata"]["name"] for claim in disposable(deleting, claims, groups=[0, 2])] == [
        "data-llm-1"
    ]


def test_a_budget_says_how_many_pods_of_a_group_must_stay() -> None:
    found = budget_of(blueprint(annotations={labels.DISRUPTION_BUDGET: "1"}), 2)
    assert found is not None
    assert found["metadata"]["name"] == "llm-2"
    assert found["spec"]["minAvailable"] == 3
    assert found["spec"]["selector"]["matchLabels"] == {
        labels.LWS_NAME: "llm",
        labels.LWS_GROUP_INDEX: "2",
    }


def test_no_budget_is_made_unless_it_is_asked_for() -> None:
    assert budget_of(blueprint(), 0) is None
