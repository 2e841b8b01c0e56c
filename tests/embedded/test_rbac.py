from typing import Any

import pytest

from quorate.api.meta import Json
from quorate.embedded import accessreviews, bootstraproles
from quorate.embedded.errors import ApiError
from quorate.embedded.options import User
from quorate.embedded.rbac import GROUP, Attributes, Authorizer
from quorate.embedded.store import Key, Store
from quorate.embedded.tokens import ANONYMOUS

ANN = User("ann", ("team", "system:authenticated"))
ADMIN = User("root", ("system:masters",))


class World:
    """A store with the bootstrap roles and an authorizer that follows it."""

    def __init__(self) -> None:
        self.store = Store()
        for role in bootstraproles.cluster_roles():
            self.add("clusterroles", role)
        self.authorizer = Authorizer(self.store)
        for binding in bootstraproles.cluster_role_bindings():
            self.add("clusterrolebindings", binding)

    def add(self, plural: str, obj: Json) -> None:
        metadata = obj["metadata"]
        key = Key(GROUP, plural, metadata.get("namespace", ""), metadata["name"])
        typed = {"kind": plural, "apiVersion": f"{GROUP}/v1", **obj}
        self.store.create(key, {**typed, "metadata": dict(metadata)})

    def bind(self, role: str, *, kind: str = "ClusterRole", namespace: str = "", **subject: str) -> None:
        plural = "rolebindings" if namespace else "clusterrolebindings"
        subject = {"kind": "User", "name": "ann", **subject}
        metadata = {"name": f"{role}-{subject['name']}", "namespace": namespace}
        self.add(
            plural, {"metadata": metadata, "roleRef": {"kind": kind, "name": role}, "subjects": [subject]}
        )

    def may(self, user: User, verb: str, resource: str, **where: Any) -> bool:
        return self.authorizer.decide(Attributes(user, verb, resource=resource, **where)).allowed


@pytest.fixture
def world() -> World:
    return World()


def test_masters_may_do_everything(world: World) -> None:
    assert world.may(ADMIN, "delete", "nodes")
    assert world.authorizer.decide(Attributes(ADMIN, "get", path="/anything")).allowed


def test_a_refusal_has_the_words_of_the_real_server(world: World) -> None:
    with pytest.raises(ApiError) as refused:
        world.authorizer.check(Attributes(ANN, "list", resource="pods", namespace="default"))
    assert refused.value.code == 403
    assert str(refused.value) == (
        'pods is forbidden: User "ann" cannot list resource "pods" in API group "" in the namespace "default"'
    )
    with pytest.raises(ApiError) as refused:
        world.authorizer.check(Attributes(ANN, "get", "apps", "deployments", "scale", "web"))
    assert str(refused.value) == (
        'deployments.apps "web" is forbidden: User "ann" cannot get resource "deployments/scale" '
        'in API group "apps" at the cluster scope'
    )
    with pytest.raises(ApiError, match=r'^forbidden: User "system:anonymous" cannot get path "/metrics"$'):
        world.authorizer.check(Attributes(ANONYMOUS, "get", path="/metrics"))


def test_a_cluster_binding_holds_everywhere_a_role_binding_in_its_namespace(world: World) -> None:
    world.bind("view", namespace="a")
    assert world.may(ANN, "list", "pods", namespace="a")
    assert not world.may(ANN, "list", "pods", namespace="b")
    assert not world.may(ANN, "list", "pods")
    world.bind("view")
    assert world.may(ANN, "list", "pods", namespace="b")
    assert world.may(ANN, "list", "pods")


def test_groups_and_service_accounts_are_subjects(world: World) -> None:
    world.add(
        "rolebindings",
        {
            "metadata": {"name": "g", "namespace": "b"},
            "roleRef": {"kind": "ClusterRole", "name": "view"},
            "subjects": [
                {"kind": "Group", "name": "team"},
                {"kind": "ServiceAccount", "name": "robot", "namespace": "c"},
            ],
        },
    )
    assert world.may(ANN, "get", "pods", namespace="b")
    assert world.may(User("system:serviceaccount:c:robot", ()), "get", "pods", namespace="b")
    assert not world.may(User("system:serviceaccount:b:robot", ()), "get", "pods", namespace="b")


def test_user_facing_roles_aggregate(world: World) -> None:
    world.bind("edit", namespace="a")
    assert world.may(ANN, "create", "pods", namespace="a")
    assert world.may(ANN, "list", "pods", namespace="a")
    assert not world.may(ANN, "create", "podgroups", group="scheduling.run.ai", namespace="a")
    rule = {"apiGroups": ["scheduling.run.ai"], "resources": ["podgroups"], "verbs": ["create"]}
    labels = {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}
    world.add("clusterroles", {"metadata": {"name": "ours", "labels": labels}, "rules": [rule]})
    assert world.may(ANN, "create", "podgroups", group="scheduling.run.ai", namespace="a")


def test_rules_written_on_an_aggregating_role_do_not_hold(world: World) -> None:
    rule = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["delete"]}
    world.add("clusterroles", {"metadata": {"name": "sum"}, "aggregationRule": {}, "rules": [rule]})
    world.bind("sum")
    assert not world.may(ANN, "delete", "nodes")


def test_the_user_facing_roles_show_what_flows_into_them() -> None:
    roles = {one["metadata"]["name"]: one for one in bootstraproles.cluster_roles()}
    view, edit = roles["view"]["rules"], roles["edit"]["rules"]
    assert view == roles["system:aggregate-to-view"]["rules"]
    assert all(rule in edit for rule in view)


def role(world: World, **rule: list[str]) -> None:
    world.add("clusterroles", {"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], **rule}]})
    world.bind("r")


def test_named_objects_only(world: World) -> None:
    role(world, resources=["secrets"], verbs=["get"], resourceNames=["one"])
    assert world.may(ANN, "get", "secrets", name="one")
    assert not world.may(ANN, "get", "secrets", name="two")
    assert not world.may(ANN, "get", "secrets")


def test_subresources_are_granted_apart(world: World) -> None:
    role(world, resources=["pods", "*/status"], verbs=["update"])
    assert world.may(ANN, "update", "pods")
    assert world.may(ANN, "update", "pods", subresource="status")
    assert world.may(ANN, "update", "nodes", subresource="status")
    assert not world.may(ANN, "update", "pods", subresource="binding")


def test_discovery_is_for_the_authenticated(world: World) -> None:
    for path in ("/api", "/apis/apps/v1", "/openapi/v3"):
        assert world.authorizer.decide(Attributes(ANN, "get", path=path)).allowed
        assert not world.authorizer.decide(Attributes(ANONYMOUS, "get", path=path)).allowed
    assert world.authorizer.decide(Attributes(ANONYMOUS, "get", path="/healthz")).allowed


def test_access_follows_the_store(world: World) -> None:
    world.bind("view")
    assert world.may(ANN, "list", "pods")
    world.store.delete(Key(GROUP, "clusterrolebindings", "", "view-ann"))
    assert not world.may(ANN, "list", "pods")


def test_reviews(world: World) -> None:
    world.bind("view", namespace="a")
    body = {"spec": {"resourceAttributes": {"verb": "list", "resource": "pods", "namespace": "a"}}}
    answer = accessreviews.self_access(world.authorizer, body, ANN)
    assert answer["kind"] == "SelfSubjectAccessReview"
    assert answer["status"] == {
        "allowed": True,
        "reason": 'RBAC: allowed by RoleBinding "view-ann/a" of ClusterRole "view" to User "ann"',
    }
    asked = {"spec": {**body["spec"], "user": "bob"}}
    assert accessreviews.subject_access(world.authorizer, asked)["status"] == {"allowed": False}
    with pytest.raises(ApiError, match=r"must match metadata\.namespace"):
        accessreviews.subject_access(world.authorizer, asked, "other")


def test_a_review_asks_about_one_thing(world: World) -> None:
    with pytest.raises(ApiError, match="exactly one of nonResourceAttributes or resourceAttributes"):
        accessreviews.self_access(world.authorizer, {"spec": {}}, ANN)


def test_can_i_everything(world: World) -> None:
    body = {"spec": {"resourceAttributes": {"verb": "*", "group": "*", "resource": "*"}}}
    assert not accessreviews.self_access(world.authorizer, body, ANN)["status"]["allowed"]
    world.bind("cluster-admin")
    assert accessreviews.self_access(world.authorizer, body, ANN)["status"]["allowed"]


def test_rules_review_lists_what_holds(world: World) -> None:
    role(world, resources=["pods"], verbs=["get"])
    status = accessreviews.self_rules(world.authorizer, {"spec": {"namespace": "a"}}, ANN)["status"]
    assert {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]} in status["resourceRules"]
    assert any("/api" in rule["nonResourceURLs"] for rule in status["nonResourceRules"])
