"""The walk from a pod to its top owner."""

import pytest

from quorate.grouping.errors import MalformedError, NotFetchedError, UnresolvedError
from quorate.grouping.owners import walk
from tests.fakes.grouped import context, grouped, pod, reference, refusals, thing

FOO = thing("example.test/v1", "Foo", "foo")
JOB = thing("batch/v1", "Job", "train", FOO)


def test_the_chain_is_nearest_first() -> None:
    chain = walk(pod("a", JOB), context(JOB, FOO).objects)
    assert [owner.name for owner in chain.owners] == ["train", "foo"]


def test_a_bare_pod_has_no_owners() -> None:
    assert walk(pod("a"), {}).owners == ()


def test_an_owner_that_was_not_handed_in_is_asked_for() -> None:
    with pytest.raises(NotFetchedError) as raised:
        walk(pod("a", JOB), {})
    assert raised.value.address.key == ("batch", "Job", "team", "train")


def test_a_forbidden_owner_ends_the_chain_below_it() -> None:
    chain = walk(pod("a", JOB), context(JOB, forbidden=frozenset({"Foo"})).objects)
    assert ([owner.name for owner in chain.owners], chain.unreadable) == (["train"], "Foo foo")


def test_an_absent_owner_is_named() -> None:
    with pytest.raises(UnresolvedError, match="owner Job team/train does not exist"):
        walk(pod("a", JOB), context().objects)


def test_another_object_of_the_same_name_is_no_owner() -> None:
    member = pod("a", JOB)
    other = JOB | {"metadata": JOB["metadata"] | {"uid": "other"}}
    with pytest.raises(UnresolvedError, match="uid other, not"):
        walk(member, context(other).objects)


def test_owners_in_a_circle_are_refused() -> None:
    first, second = thing("a.test/v1", "A", "a"), thing("b.test/v1", "B", "b")
    first["metadata"]["ownerReferences"] = [reference(second)]
    second["metadata"]["ownerReferences"] = [reference(first)]
    with pytest.raises(MalformedError, match="circle"):
        walk(pod("a", first), context(first, second).objects)


def test_the_controller_is_followed_among_several_owners() -> None:
    other = thing("example.test/v1", "Bar", "bar")
    low = thing("batch/v1", "Job", "train")
    low["metadata"]["ownerReferences"] = [reference(other) | {"controller": False}, reference(FOO)]
    assert [owner.kind for owner in walk(pod("a", low), context(low, FOO, other).objects).owners] == [
        "Job",
        "Foo",
    ]


def test_several_owners_without_a_controller_are_refused_by_name() -> None:
    low = thing("batch/v1", "Job", "train")
    low["metadata"]["ownerReferences"] = [
        reference(owner) | {"controller": False} for owner in (FOO, thing("example.test/v1", "Bar", "bar"))
    ]
    assert refusals(grouped([pod("a", low)], low, FOO)) == [
        "metadata.ownerReferences of Job team/train: several owners (Foo foo, Bar bar), none is the controller"
    ]
