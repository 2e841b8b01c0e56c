import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorate.api.meta import Json
from quorate.embedded.patch import (
    MalformedPatchError,
    PatchFailedError,
    UnmergeableError,
    json_patch,
    merge_patch,
)
from quorate.embedded.shape import builtin
from quorate.embedded.strategic import strategic_merge

POD = builtin("", "v1", "Pod")
DEPLOYMENT = builtin("apps", "v1", "Deployment")

leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b"])
names = st.sampled_from(["a", "b", "c", "x/y", "~"])
trees = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)
objects = st.dictionaries(names, trees, max_size=3)


def without_nulls(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: without_nulls(value) for name, value in tree.items() if value is not None}
    return tree


def pod(*images: str, **spec: Any) -> Json:
    return {"spec": {"containers": [{"name": image[0], "image": image} for image in images], **spec}}


def names_of(whole: Json) -> list[str]:
    return [c["name"] for c in whole["spec"]["containers"]]


@given(objects, objects)
def test_a_merge_patch_applied_twice_is_applied_once(tree: Json, patch: Json) -> None:
    once = merge_patch(tree, patch)
    assert merge_patch(once, patch) == once


@given(objects, objects)
def test_a_merge_patch_changes_neither_argument(tree: Json, patch: Json) -> None:
    before = copy.deepcopy((tree, patch))
    merge_patch(tree, patch)
    assert (tree, patch) == before


@given(objects)
def test_merging_into_nothing_leaves_the_patch_without_nulls(patch: Json) -> None:
    assert merge_patch({}, patch) == without_nulls(patch)


@given(objects, names, trees)
def test_adding_then_removing_restores_the_document(tree: Json, name: str, value: Any) -> None:
    path = "/" + name.replace("~", "~0").replace("/", "~1")
    added = json_patch(
        tree, [{"op": "add", "path": path, "value": value}, {"op": "test", "path": path, "value": value}]
    )
    removed = json_patch(added, [{"op": "remove", "path": path}])
    assert removed == {key: child for key, child in tree.items() if key != name}


def test_json_patch_edits_lists_at_any_place() -> None:
    operations = [
        {"op": "add", "path": "/l/-", "value": 4},
        {"op": "add", "path": "/l/0", "value": 0},
        {"op": "remove", "path": "/l/2"},
        {"op": "replace", "path": "/l/1", "value": "one"},
        {"op": "copy", "from": "/l/0", "path": "/copied"},
        {"op": "move", "from": "/l/2", "path": "/moved"},
    ]
    assert json_patch({"l": [1, 2, 3]}, operations) == {"l": [0, "one", 4], "copied": 0, "moved": 3}


@pytest.mark.parametrize(
    ("operation", "text"),
    [
        ({"op": "test", "path": "/a", "value": 2}, "testing value /a failed: test failed"),
        ({"op": "test", "path": "/a", "value": True}, "testing value /a failed"),
        ({"op": "remove", "path": "/b"}, 'remove operation does not apply: doc is missing path: "/b"'),
        ({"op": "replace", "path": "/b/c", "value": 1}, "replace operation does not apply"),
        ({"op": "add", "path": "/b/c", "value": 1}, "add operation does not apply: doc is missing path"),
        ({"op": "add", "path": "/l/5", "value": 1}, "invalid index referenced"),
        ({"op": "add", "path": "/l/x", "value": 1}, "is no index of a list"),
        ({"op": "add", "path": "/a/b", "value": 1}, "doc is missing path"),
        ({"op": "move", "from": "/m", "path": "/m/n"}, "lies in"),
        ({"op": "explode", "path": "/a"}, "Unexpected kind: explode"),
        ({"op": "remove"}, 'needs "path"'),
        ({"op": "remove", "path": "a"}, "a JSON pointer"),
    ],
)
def test_operation_that_does_not_fit_says_why(operation: Json, text: str) -> None:
    with pytest.raises(PatchFailedError, match=text.replace("(", r"\(")):
        json_patch({"a": 1, "l": [], "m": {}}, [operation])


@pytest.mark.parametrize("document", [{}, [1], "x", [{}] * 10_001])
def test_document_that_is_no_json_patch_is_refused(document: Any) -> None:
    with pytest.raises(MalformedPatchError):
        json_patch({"a": 1}, document)


def test_strategic_merge_joins_containers_by_name() -> None:
    patched = strategic_merge(POD, pod("a:1", "b:1"), pod("b:2", "c:1"))
    assert [c["image"] for c in patched["spec"]["containers"]] == ["a:1", "b:2", "c:1"]


def test_new_item_stands_first_unless_the_patch_orders_otherwise() -> None:
    # Odd, but so it is on a real server.
    assert names_of(strategic_merge(POD, pod("a:1", "b:1"), pod("z:1"))) == ["z", "a", "b"]


def test_strategic_merge_replaces_lists_without_a_key() -> None:
    original = {"spec": {"containers": [{"name": "a", "command": ["x", "y"]}]}}
    patch = {"spec": {"containers": [{"name": "a", "command": ["z"]}]}}
    assert strategic_merge(POD, original, patch)["spec"]["containers"][0]["command"] == ["z"]


def test_delete_directive_takes_an_item_out() -> None:
    patch = {"spec": {"containers": [{"name": "a", "$patch": "delete"}]}}
    assert names_of(strategic_merge(POD, pod("a:1", "b:1"), patch)) == ["b"]


def test_replace_directive_replaces_list_and_object() -> None:
    patch = {
        "spec": {
            "containers": [{"$patch": "replace"}, {"name": "z"}],
            "securityContext": {"$patch": "replace"},
        }
    }
    patched = strategic_merge(POD, pod("a:1", securityContext={"runAsUser": 1}), patch)
    assert patched["spec"] == {"containers": [{"name": "z"}], "securityContext": {}}


def test_element_order_arranges_the_list_around_items_of_others() -> None:
    patch = {
        "spec": {
            "$setElementOrder/containers": [{"name": "c"}, {"name": "a"}],
            "containers": [{"name": "c", "image": "c:1"}],
        }
    }
    assert names_of(strategic_merge(POD, pod("a:1", "b:1"), patch)) == ["c", "a", "b"]


def test_element_order_alone_reorders() -> None:
    patch = {"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}}
    assert names_of(strategic_merge(POD, pod("a:1", "b:1"), patch)) == ["b", "a"]


def test_values_are_deleted_from_a_primitive_list() -> None:
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x"], "finalizers": ["z"]}}
    patched = strategic_merge(POD, {"metadata": {"finalizers": ["x", "y"]}}, patch)
    assert patched["metadata"]["finalizers"] == ["z", "y"]


def test_retained_keys_drop_the_rest_of_the_object() -> None:
    original = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    assert strategic_merge(DEPLOYMENT, original, patch)["spec"]["strategy"] == {"type": "Recreate"}


def test_null_removes_a_field() -> None:
    assert strategic_merge(POD, pod("a:1", nodeName="n"), {"spec": {"nodeName": None}}) == pod("a:1")


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        (
            {"spec": {"containers": [{"image": "x"}]}},
            "map: map[image:x] does not contain declared merge key: name",
        ),
        ({"spec": {"$patch": "explode"}}, "unknown patch type: explode in map: map[$patch:explode]"),
        ({"spec": {"$patch": "merge"}}, "unknown patch type: merge in map: map[$patch:merge]"),
        ({"spec": {"containers": ["x"]}}, "list element types are not identical"),
    ],
)
def test_strategic_patch_that_contradicts_the_kind_says_why(patch: Json, text: str) -> None:
    with pytest.raises(UnmergeableError) as refused:
        strategic_merge(POD, pod("a:1"), patch)
    assert text in str(refused.value)


@pytest.mark.parametrize("patch", [[], "x", {"spec": {"$retainKeys": ["a"], "nodeName": "n"}}])
def test_document_that_is_no_strategic_patch_is_refused(patch: Any) -> None:
    with pytest.raises(MalformedPatchError):
        strategic_merge(POD, pod("a:1"), patch)


@pytest.mark.parametrize("patch", [[], "x", 1, None])
def test_document_that_is_no_merge_patch_is_refused(patch: Any) -> None:
    with pytest.raises(MalformedPatchError, match="error decoding patch"):
        merge_patch({}, patch)


@given(st.lists(st.sampled_from("abcd"), unique=True), st.lists(st.sampled_from("abcd"), unique=True))
def test_strategic_merge_twice_is_once(before: list[str], patch: list[str]) -> None:
    once = strategic_merge(POD, pod(*before), pod(*patch))
    assert strategic_merge(POD, once, pod(*patch)) == once
    assert set(names_of(once)) == {*before, *patch}
