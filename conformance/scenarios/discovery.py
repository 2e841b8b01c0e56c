"""What a server says about itself: groups, resources, reviews. Only what both serve is compared."""

from conformance.scenarios.step import Step, get, post, scenario

REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def may(verb: str, resource: str, group: str = "") -> Step:
    attributes = {"verb": verb, "resource": resource, "group": group, "namespace": "{ns}"}
    return post(
        REVIEW,
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        },
    )


SCENARIOS = (
    scenario(
        "discovery",
        get("/api", only=("kind", "versions")),
        get("/api/v1", only=("kind", "groupVersion")),
        get("/apis", only=("kind", "apiVersion")),
        get("/apis/apps"),
        get("/apis/batch"),
        get("/apis/policy/v1"),
        get("/apis/coordination.k8s.io/v1"),
        get("/apis/scheduling.k8s.io/v1"),
    ),
    scenario("reviews", may("create", "pods"), may("delete", "deployments", "apps"), may("get", "nonsense")),
)
