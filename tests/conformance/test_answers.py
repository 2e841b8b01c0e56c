"""What makes answers of two API servers comparable."""

from conformance.answers import Answer, differences, normal
from conformance.scenarios import ALL


def test_what_differs_from_run_to_run_is_replaced() -> None:
    body = {
        "metadata": {
            "uid": "0b7b2a1e-6f2c-4a39-9d6b-2f8f0f2c9d11",
            "resourceVersion": "17",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "generateName": "made-",
            "name": "made-x7x2p",
        },
        "message": "pod 0b7b2a1e-6f2c-4a39-9d6b-2f8f0f2c9d11 is 5s old",
        "cells": ["5s", 3],
    }
    assert normal(Answer(200, body))["body"] == {
        "metadata": {
            "uid": "<uid>",
            "resourceVersion": "<version>",
            "creationTimestamp": "<time>",
            "generateName": "made-",
            "name": "<generated>",
        },
        "message": "pod <uid> is 5s old",
        "cells": ["<age>", 3],
    }


def test_entries_of_managed_fields_have_no_order() -> None:
    entries = [{"manager": name, "operation": "Apply"} for name in ("b", "a")]
    there, back = ({"managedFields": order} for order in (entries, entries[::-1]))
    assert normal(Answer(200, there)) == normal(Answer(200, back))


def test_differences_name_the_leaves() -> None:
    left, right = {"a": [1, {"b": True}], "c": "x"}, {"a": [1, {"b": 1}], "d": "y"}
    assert list(differences(left, right)) == [
        "a[1].b: True / 1",
        "c: 'x' / '(absent)'",
        "d: '(absent)' / 'y'",
    ]


def test_only_chosen_fields_are_compared() -> None:
    answer = Answer(200, {"kind": "Pod", "status": {"phase": "Running"}})
    assert normal(answer, ("kind",))["body"] == {"kind": "Pod"}


def test_scenarios_have_names_of_their_own() -> None:
    names = [scenario.name for scenario in ALL]
    assert len(set(names)) == len(names)
    assert all(scenario.steps for scenario in ALL)
