"""Who is asked about what, and what happens while nobody answers."""

from typing import Any

from quorate.admission.judges import JUDGES
from quorate.api.webhooks import configurations, dns_names, service


def webhooks(url: str = "") -> list[Any]:
    return [one for found in configurations("quorate", url) for one in found["webhooks"]]


def asked_about(one: Any) -> set[tuple[str, str]]:
    return {(rule["apiGroups"][0], resource) for rule in one["rules"] for resource in rule["resources"]}


def test_only_pods_of_our_scheduler_are_asked_about_and_none_is_held_up() -> None:
    pods = [one for one in webhooks() if ("", "pods") in asked_about(one)]
    assert [one["clientConfig"]["service"]["path"] for one in pods] == ["/validate", "/mutate"]
    for one in pods:
        assert asked_about(one) == {("", "pods")}
        assert [rule["operations"] for rule in one["rules"]] == [["CREATE"]]
        assert (one["failurePolicy"], one["sideEffects"], one["timeoutSeconds"]) == ("Ignore", "None", 2)
        assert [found["expression"] for found in one["matchConditions"]] == [
            "has(object.spec.schedulerName) && object.spec.schedulerName == 'quorate'"
        ]


def test_our_own_kinds_are_refused_while_nobody_judges_them() -> None:
    own = [one for one in webhooks() if ("", "pods") not in asked_about(one)]
    assert {one["failurePolicy"] for one in own} == {"Fail"}


def test_every_kind_with_rules_is_asked_about() -> None:
    groups = {group for one in webhooks() for group, _ in asked_about(one)}
    assert {group for group, _ in JUDGES} == groups


def test_the_service_is_called_by_the_names_of_its_certificate() -> None:
    for one in webhooks():
        client = one["clientConfig"]["service"]
        assert f"{client['name']}.{client['namespace']}.svc" in dns_names()
    assert service(9443)["spec"]["ports"][0]["targetPort"] == 9443


def test_outside_of_the_cluster_the_address_is_a_url() -> None:
    assert {one["clientConfig"]["url"] for one in webhooks("https://localhost:1")} == {
        "https://localhost:1/validate",
        "https://localhost:1/mutate",
    }
