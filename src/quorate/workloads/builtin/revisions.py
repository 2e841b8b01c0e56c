"""ControllerRevisions of StatefulSets and DaemonSets: which template is which revision, which are history."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from quorate.api.meta import Json, Kind
from quorate.plan import Change
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.hashing import template_hash
from quorate.workloads.builtin.outcome import create, delete, owner_reference, patch

LABEL = "controller-revision-hash"
_HASH_OF = {"StatefulSet": "controller.kubernetes.io/hash", "DaemonSet": LABEL}  # on the revision itself


class Revisions(NamedTuple):
    """The revision of today's template by name, every revision's template, and the writes that record it."""

    update: str
    templates: dict[str, Json]
    changes: list[Change]


def revise(kind: Kind, owner: Json, known: Sequence[Json], collisions: int = 0) -> Revisions:
    """Find today's template among the known revisions (it moves to the front) or record it as a new one."""
    template = owner["spec"]["template"]
    ordered = sorted(known, key=lambda item: (item["revision"], item["metadata"]["name"]))
    templates = {item["metadata"]["name"]: _template(item) for item in ordered}
    top = ordered[-1]["revision"] if ordered else 0
    equal = next((item for item in reversed(ordered) if _template(item) == template), None)
    if equal is None:
        made = _new(kind, owner, top + 1, collisions)
        name = made["metadata"]["name"]
        return Revisions(name, {**templates, name: template}, [create(kinds.CONTROLLER_REVISION, made)])
    name = equal["metadata"]["name"]
    if equal["revision"] == top:
        return Revisions(name, templates, [])
    return Revisions(name, templates, [patch(kinds.CONTROLLER_REVISION, equal, {"revision": top + 1})])


def truncate(owner: Json, known: Sequence[Json], live: Collection[str]) -> list[Change]:
    """Revisions that no pod uses go, oldest first, beyond `revisionHistoryLimit`."""
    unused = [item for item in known if item["metadata"]["name"] not in live]
    unused.sort(key=lambda item: item["revision"])
    surplus = len(unused) - owner["spec"].get("revisionHistoryLimit", 10)
    return [delete(kinds.CONTROLLER_REVISION, item) for item in unused[: max(surplus, 0)]]


def _template(item: Json) -> Json:
    stored = item["data"]["spec"]["template"]
    return {key: value for key, value in stored.items() if key != "$patch"}


def _new(kind: Kind, owner: Json, revision: int, collisions: int) -> Json:
    template = owner["spec"]["template"]
    digest = template_hash(template, collisions)
    meta = owner["metadata"]
    return {
        "metadata": {
            "name": f"{meta['name']}-{digest}",
            "namespace": meta["namespace"],
            "labels": {**(template.get("metadata", {}).get("labels") or {}), _HASH_OF[kind.kind]: digest},
            "ownerReferences": [owner_reference(kind, owner)],
        },
        "data": {"spec": {"template": {**template, "$patch": "replace"}}},
        "revision": revision,
    }
