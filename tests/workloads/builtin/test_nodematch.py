from typing import Any

import pytest

from quorate.workloads.builtin.nodematch import admits, pinned, repels


@pytest.mark.parametrize(
    ("expression", "fits"),
    [
        ({"key": "rack", "operator": "In", "values": ["r1", "r2"]}, True),
        ({"key": "rack", "operator": "NotIn", "values": ["r1"]}, False),
        ({"key": "gpu", "operator": "Exists"}, False),
        ({"key": "gpu", "operator": "DoesNotExist"}, True),
        ({"key": "size", "operator": "Gt", "values": ["7"]}, True),
        ({"key": "size", "operator": "Lt", "values": ["8"]}, False),
    ],
)
def test_required_node_affinity(expression: dict[str, Any], fits: bool) -> None:  # noqa: FBT001 - a column of the table
    assert admits(_affine({"matchExpressions": [expression]}), _NODE) is fits


def test_a_term_without_tests_matches_nothing() -> None:
    assert not admits(_affine({}), _NODE)


def test_a_daemon_is_pinned_to_the_node_it_names() -> None:
    spec = _affine({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]})
    assert pinned({"spec": spec}) == "n1"
    assert pinned({"spec": {}}) == ""


def test_taints_repel_what_does_not_tolerate_them() -> None:
    taint = {"key": "gpu", "value": "only", "effect": "NoSchedule"}
    node = {**_NODE, "spec": {"taints": [taint]}}
    assert repels({}, node) == taint
    assert repels({"tolerations": [{"key": "gpu", "operator": "Exists"}]}, node) is None
    assert repels({"tolerations": [{"key": "gpu", "value": "other"}]}, node) == taint
    assert repels({"tolerations": [{"operator": "Exists"}]}, node) is None


_NODE: dict[str, Any] = {"metadata": {"name": "n1", "labels": {"rack": "r1", "size": "8"}}}


def _affine(term: dict[str, Any]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": [term]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}
