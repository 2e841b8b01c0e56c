"""The fields that every kind shares."""

from typing import Any

import pytest

from quorate.api import labels
from quorate.grouping.defaults import KindDefault, KindDefaults, parse_defaults
from quorate.grouping.derive import go_duration
from quorate.grouping.grouper import group
from tests.fakes.grouped import context, grouped, only_gang, pod, thing, warnings


def spec(**fields: Any) -> Any:
    return only_gang([pod("a", **fields)]).body["spec"]


def test_the_queue_is_named_by_a_project_and_a_pool() -> None:
    assert spec(labels={labels.PROJECT: "vision", labels.NODE_POOL: "a100"})["queue"] == "vision-a100"
    assert spec(labels={labels.PROJECT: "vision"})["queue"] == "vision"
    assert spec()["queue"] == "default-queue"


def test_the_top_owner_decides_preemptibility_before_those_below() -> None:
    top = thing("example.test/v1", "Foo", "foo", labels={labels.PREEMPTIBILITY: "semi-preemptible"})
    low = thing("example.test/v1", "Bar", "bar", top, labels={labels.PREEMPTIBILITY: "preemptible"})
    member = pod("a", low, labels={labels.PREEMPTIBILITY: "non-preemptible"})
    assert only_gang([member], top, low).body["spec"]["preemptibility"] == "semi-preemptible"


def test_labels_of_tools_stay_with_their_objects() -> None:
    said = {"argocd.argoproj.io/instance": "app", "tier": "gold"}
    gang = only_gang(
        [pod("a", labels=said, annotations={"kubectl.kubernetes.io/last-applied-configuration": "{}"})]
    )
    assert gang.body["metadata"]["labels"] == {"tier": "gold"}
    assert list(gang.body["metadata"]["annotations"]) == [labels.TOP_OWNER_METADATA]


def test_defaults_of_a_kind_count_below_what_is_asked_for() -> None:
    defaults = KindDefaults(
        (KindDefault(type_name="Pod", priority_name="build", preemptibility="preemptible"),)
    )
    (gang,) = group([pod("a")], context(defaults=defaults)).gangs
    assert (gang.body["spec"]["priorityClassName"], gang.body["spec"]["preemptibility"]) == (
        "build",
        "preemptible",
    )
    (gang,) = group([pod("a", labels={labels.PRIORITY_CLASS: "high"})], context(defaults=defaults)).gangs
    assert gang.body["spec"]["priorityClassName"] == "high"


@pytest.mark.parametrize("text", ["{", '{"a": 1}', '[{"typeName": 1}]', "[1]"])
def test_defaults_that_cannot_be_read_leave_a_problem(text: str) -> None:
    assert parse_defaults(text).problem
    assert parse_defaults(text).entries == ()


@pytest.mark.parametrize(
    ("text", "printed"),
    [("1m", "1m0s"), ("90s", "1m30s"), ("0s", "0s"), ("1.5h", "1h30m0s"), ("500ms", "500ms")],
)
def test_delays_are_written_as_go_prints_them(text: str, printed: str) -> None:
    assert spec(annotations={labels.PREEMPTION_DELAY: text})["preemptionDelay"] == printed


def test_a_negative_grace_period_means_never_and_a_negative_delay_nothing() -> None:
    assert spec(annotations={labels.STALENESS_GRACE_PERIOD: "-1s"})["stalenessGracePeriod"] == "-1s"
    found = grouped([pod("a", annotations={labels.PREEMPTION_DELAY: "-5m"})])
    assert "preemptionDelay" not in found.gangs[0].body["spec"]
    assert "negative" in warnings(found)[0]


def test_go_prints_hours_minutes_and_fractions() -> None:
    assert [go_duration(value) for value in (3600, 61.5, -60, 0.25)] == ["1h0m0s", "1m1.5s", "-1m0s", "250ms"]


def test_long_names_are_shortened_the_same_way_each_time() -> None:
    owner = thing("batch/v1", "Job", "j" * 253)
    names = {only_gang([pod("a", owner)], owner).name for _ in range(2)}
    assert len(names) == 1
    assert len(names.pop()) <= 253
