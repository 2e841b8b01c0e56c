from quorate.api.meta import Condition
from quorate.workloads.lws.conditions import Counts, changed, conditions_of

WHOLE = Counts(wanted=2, existing=2, ready=2, updated=2, held=0, old=0, fit=2)


def true(counts: Counts, trouble: str = "", previous: list[Condition] | None = None) -> list[str]:
    found = conditions_of(counts, trouble, previous, 1, "2026-11-19T02:00:00Z")
    return [one.type for one in found if one.status == "True"]


def test_whole_set_is_available_and_nothing_else() -> None:
    assert true(WHOLE) == ["Available"]


def test_old_groups_are_an_update_in_progress_held_ones_are_not() -> None:
    assert true(WHOLE._replace(updated=1, old=1, fit=1)) == ["UpdateInProgress", "Progressing"]
    held = conditions_of(WHOLE._replace(updated=1, held=1, fit=1), "", None, 1, "")
    assert [(one.type, one.message) for one in held] == [
        ("Progressing", "groups kept at an earlier revision by the partition: 1")
    ]


def test_condition_that_ends_keeps_its_reason_and_one_that_never_held_is_absent() -> None:
    before = conditions_of(WHOLE._replace(ready=1, fit=1), "", None, 1, "2026-11-19T02:00:00Z")
    after = conditions_of(WHOLE, "", before, 2, "2026-11-19T03:00:00Z")
    assert [(one.type, one.status, one.reason) for one in after] == [
        ("Progressing", "False", "GroupsProgressing"),
        ("Available", "True", "AllGroupsReady"),
    ]
    assert [one.type for one in changed(before, after)] == ["Available"]
    assert list(changed(after, after)) == []


def test_groups_that_are_not_ready_are_named_while_there_are_any() -> None:
    short = WHOLE._replace(ready=1, fit=1, unready="1")
    before = conditions_of(short, "", None, 1, "2026-11-19T02:00:00Z")
    assert [one.message for one in before] == ["Replicas are progressing, not ready: 1"]
    (progressing, _) = conditions_of(WHOLE, "", before, 1, "2026-11-19T03:00:00Z")
    assert progressing.message == "Replicas are progressing"
    many = ",".join(str(2 * index) for index in range(100))
    (long,) = conditions_of(short._replace(unready=many), "", None, 1, "2026-11-19T02:00:00Z")
    assert long.message.endswith("...")
    assert len(long.message) < 140


def test_trouble_is_shown_beside_whatever_else_holds() -> None:
    assert true(WHOLE, "group 1 waits") == ["Available", "Degraded"]
