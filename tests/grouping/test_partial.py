import pytest

from quorate.grouping.errors import NotFetchedError
from quorate.grouping.objects import Address, owner_from_json
from quorate.grouping.partial import Partial

FOO = Partial(Address("example.com/v1", "Foo", "team", "foo"), {"name": "foo", "labels": {"a": "b"}})


def test_the_metadata_reads_as_that_of_the_object() -> None:
    owner = owner_from_json(FOO, "team")
    assert (owner.group_kind, owner.name, owner.labels) == (("example.com", "Foo"), "foo", {"a": "b"})


def test_who_reads_more_is_told_to_fetch_the_object() -> None:
    owner = owner_from_json(FOO, "team")
    with pytest.raises(NotFetchedError, match="Foo team/foo"):
        owner.at("spec", "replicas")
    with pytest.raises(NotFetchedError, match="Foo team/foo"):
        owner.body["status"]
