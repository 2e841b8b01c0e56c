"""Kinds of the table and wrappers, and the rights of an installation to read them."""

from quorate.api import shipped
from quorate.grouping.registry import TABLE
from quorate.grouping.toplevel import SILENT, WRAPPERS


def test_an_installation_may_read_every_kind_that_has_rules() -> None:
    role = next(one for one in shipped.roles() if one["metadata"]["name"] == "quorate")
    readable = {
        group
        for rule in role["rules"]
        for group in rule["apiGroups"]
        if {"get", "list", "watch"} <= set(rule["verbs"]) and "*" in rule["resources"]
    }
    assert {group for group, _ in (*TABLE, *WRAPPERS, *SILENT)} - {""} <= readable


def test_no_kind_both_decides_and_wraps() -> None:
    assert not TABLE.keys() & (WRAPPERS | SILENT)
