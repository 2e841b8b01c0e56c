"""The ConfigMap with defaults of kinds: what it may say, and what is left of it where it says nonsense."""

import json

from quorate.grouping.defaults import KindDefaults, parse_defaults
from quorate.grouping.grouper import Grouping, group
from tests.fakes.grouped import context, pod, thing

OWNER = thing("apps/v1", "StatefulSet", "db")


def grouped(defaults: KindDefaults) -> Grouping:
    return group([pod("db-0", OWNER)], context(OWNER, defaults=defaults))


def spec(text: str) -> tuple[str, str]:
    (gang,) = grouped(parse_defaults(text)).gangs
    return gang.body["spec"]["priorityClassName"], gang.body["spec"].get("preemptibility", "")


def test_an_entry_is_found_by_group_and_kind_before_the_kind_alone() -> None:
    by_kind = '{"typeName": "StatefulSet", "priorityName": "build"}'
    exact = '{"typeName": "StatefulSet", "group": "apps", "priorityName": "high"}'
    other = '{"typeName": "StatefulSet", "group": "example.test", "priorityName": "inference"}'
    assert spec(f"[{by_kind}, {other}]")[0] == "build"
    assert spec(f"[{exact}, {by_kind}]")[0] == "high"
    assert spec('[{"typeName": "StatefulSet.apps", "priorityName": "high"}]')[0] == "high"


def test_the_last_of_two_entries_for_one_kind_counts() -> None:
    entries = [{"typeName": "StatefulSet", "priorityName": name} for name in ("high", "build")]
    assert spec(json.dumps(entries))[0] == "build"


def test_case_does_not_matter_for_preemptibility() -> None:
    assert spec('[{"typeName": "StatefulSet", "preemptibility": "Non-Preemptible"}]')[1] == "non-preemptible"


def test_a_wrong_value_leaves_the_rest_of_its_entry_and_a_problem() -> None:
    found = parse_defaults('[{"typeName": "StatefulSet", "priorityName": "high", "preemptibility": "maybe"}]')
    assert "preemptibility of StatefulSet: 'maybe' is not one of" in found.problem
    assert grouped(found).gangs[0].body["spec"]["priorityClassName"] == "high"


def test_a_class_that_does_not_exist_leaves_the_default_of_the_next_owner() -> None:
    above = thing("example.test/v1", "Db", "db")
    below = thing("apps/v1", "StatefulSet", "db", above)
    entries = (
        '[{"typeName": "StatefulSet", "priorityName": "gone"}, {"typeName": "Db", "priorityName": "high"}]'
    )
    found = group([pod("db-0", below)], context(above, below, defaults=parse_defaults(entries)))
    assert found.gangs[0].body["spec"]["priorityClassName"] == "high"
    assert [w.message for w in found.warnings if "'gone' does not exist" in w.message]


def test_what_is_no_list_of_entries_leaves_the_built_in_defaults_and_a_problem() -> None:
    for text in ("{", '{"typeName": "Job"}', '[{"typeName": 3}]', "[null]"):
        assert parse_defaults(text).entries == ()
        assert parse_defaults(text).problem.startswith("types of the defaults ConfigMap: ")
