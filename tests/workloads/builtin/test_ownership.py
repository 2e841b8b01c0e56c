from typing import Any

from quorate.workloads.builtin.ownership import Fate, fate


def test_an_object_without_owners_is_left_alone() -> None:
    assert fate(_item(), lambda _: None, has_dependents=False) == Fate()


def test_an_object_goes_with_its_last_owner() -> None:
    assert fate(_item("a", "b"), lambda _: None, has_dependents=False) == Fate("Background")


def test_a_lost_owner_is_struck_off_while_another_lives() -> None:
    alive = {"metadata": {"uid": "b"}}
    found = fate(_item("a", "b"), lambda owner: alive if owner["uid"] == "b" else None, has_dependents=False)
    assert found == Fate(lost_owners=frozenset({"a"}))


def test_dependents_of_a_waiting_owner_pass_the_waiting_on() -> None:
    waiting = {"metadata": {"deletionTimestamp": "t", "finalizers": ["foregroundDeletion"]}}
    assert fate(_item("a", block=True), lambda _: waiting, has_dependents=True) == Fate("Foreground")
    assert fate(_item("a", block=True), lambda _: waiting, has_dependents=False) == Fate("Background")
    assert fate(_item("a", block=False), lambda _: waiting, has_dependents=True) == Fate()


def _item(*owners: str, block: bool = False) -> dict[str, Any]:
    references = [{"uid": uid, "name": uid, "blockOwnerDeletion": block} for uid in owners]
    return {"metadata": {"name": "x", "ownerReferences": references}}
