"""Groupers of other packages are kept from harming other pods."""

from dataclasses import replace
from typing import Any

import pytest

from quorate.grouping.errors import UnresolvedError
from quorate.grouping.grouper import Grouping, group
from quorate.grouping.plugins import guarded, joined
from quorate.grouping.subject import Extensions, Settings, Shape, Subject, plain
from tests.fakes.grouped import context, pod, refusals, thing


def three(subject: Subject) -> Shape:
    return replace(plain(subject), min_member=3)


def broken(subject: Subject) -> Shape:
    raise KeyError(subject.owner.kind)


def waiting(subject: Subject) -> Shape:
    raise UnresolvedError(f"{subject.owner.name} is not there yet")


def grouped(function: Any) -> Grouping:
    foo, job = thing("example.com/v1", "Foo", "foo"), thing("batch/v1", "Job", "job")
    kinds = {("example.com", "Foo"): guarded(function, "Foo.example.com")}
    settings = Settings(extensions=Extensions(kinds))
    return group([pod("a", foo), pod("b", job)], context(foo, job, settings=settings))


def test_a_plugin_is_one_function_for_its_kind() -> None:
    assert [gang.body["spec"]["minMember"] for gang in grouped(three).gangs] == [3, 1]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (broken, "the grouper of Foo.example.com failed: KeyError: 'Foo'; report it to its authors"),
        (lambda _: None, "the grouper of Foo.example.com returned NoneType, not a Shape"),
        (waiting, "foo is not there yet"),
    ],
)
def test_a_plugin_that_fails_holds_up_its_own_pods_only(function: Any, said: str) -> None:
    found = grouped(function)
    assert [gang.name.startswith("pg-job-") for gang in found.gangs] == [True]
    assert refusals(found)[0].startswith(said)


def test_of_two_extensions_the_later_one_wins() -> None:
    kind = ("example.com", "Foo")
    first, second = Extensions({kind: three}), Extensions({kind: broken}, frozenset({kind}))
    assert joined(first, second) == second
