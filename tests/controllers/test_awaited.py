from msgspec.structs import replace

from quorate.api.core import POD
from quorate.api.meta import ObjectMeta
from quorate.controllers.awaited import PATIENCE_SECONDS, Awaited
from quorate.kube.outcome import Outcome, Result, Written
from quorate.plan import Change, Create, Delete, Ref

POD_A = Ref(kind=POD, namespace="ns", name="a")


class Shelf:
    """Metadata by name, as caches would show it."""

    def __init__(self) -> None:
        self.held: dict[str, ObjectMeta] = {}
        self.awaited: Awaited[str] = Awaited(lambda ref: self.held.get(ref.name))

    def write(self, change: Change, outcome: Outcome = Outcome.DONE) -> None:
        seen = self.awaited.versions([change])
        self.awaited.written("set", Result((Written(change, outcome),)), seen, 0.0)


def test_creation_is_awaited_until_the_object_shows() -> None:
    shelf = Shelf()
    shelf.write(Create(POD_A, {}))
    assert shelf.awaited.is_open("set", 1.0)
    shelf.held["a"] = ObjectMeta(name="a", resource_version="7")
    assert not shelf.awaited.is_open("set", 1.0)


def test_deletion_is_awaited_until_the_object_changes_or_goes() -> None:
    for after in (replace(ObjectMeta(name="a"), resource_version="8"), None):
        shelf = Shelf()
        shelf.held["a"] = ObjectMeta(name="a", resource_version="7")
        shelf.write(Delete(POD_A))
        assert shelf.awaited.is_open("set", 1.0)
        del shelf.held["a"]
        if after is not None:
            shelf.held["a"] = after
        assert not shelf.awaited.is_open("set", 1.0)


def test_what_did_not_happen_is_not_awaited() -> None:
    shelf = Shelf()
    shelf.write(Create(POD_A, {}), Outcome.REFUSED)
    assert not shelf.awaited.is_open("set", 0.0)


def test_patience_ends() -> None:
    shelf = Shelf()
    shelf.write(Create(POD_A, {}))
    assert not shelf.awaited.is_open("set", PATIENCE_SECONDS)
