"""Metrics of how far a RoleBasedGroup is."""

import msgspec
from prometheus_client import REGISTRY

from quorate.api.rbg import RoleBasedGroup
from quorate.controllers import rbgmetrics

GROUP = msgspec.convert(
    {
        "metadata": {"namespace": "ns", "name": "llm"},
        "spec": {"roles": [{"name": "prefill", "replicas": 4}]},
        "status": {
            "roleStatuses": [{"name": "prefill", "replicas": 3, "readyReplicas": 2, "updatedReplicas": 3}],
            "coordinations": [{"name": "serve", "complete": 1, "ready": 1, "wanted": 2}],
        },
    },
    RoleBasedGroup,
)


def segments(state: str) -> float | None:
    labels = {"namespace": "ns", "group": "llm", "coordination": "serve", "state": state}
    return REGISTRY.get_sample_value("quorate_rbg_segments", labels)


def instances(state: str) -> float | None:
    labels = {"namespace": "ns", "group": "llm", "role": "prefill", "state": state}
    return REGISTRY.get_sample_value("quorate_rbg_instances", labels)


def test_a_group_shows_its_segments_and_instances_until_it_is_gone() -> None:
    rbgmetrics.show("one", GROUP)
    assert [segments(state) for state in ("complete", "ready", "wanted")] == [1, 1, 2]
    assert [instances(state) for state in ("existing", "ready", "updated", "wanted")] == [3, 2, 3, 4]
    rbgmetrics.forget("one")
    assert segments("wanted") is None
    assert instances("wanted") is None


def test_that_the_other_api_group_has_no_group_of_the_name_takes_nothing_away() -> None:
    rbgmetrics.show("one", GROUP)
    rbgmetrics.forget("other")
    assert segments("wanted") == 2
    rbgmetrics.forget("one")
