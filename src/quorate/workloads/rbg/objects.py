"""Objects that a group owns besides its pods: how they are marked, compared, and cleaned up.

A mark on each says what was applied last; an object with another mark is applied again. So a second pass over
an unchanged group writes nothing, and fields that others own stay theirs.
"""

from collections.abc import Iterable, Iterator, Mapping
from zlib import crc32

import msgspec

from quorate.api import labels
from quorate.api.meta import Json, Kind, Object
from quorate.plan import Apply, Change, Delete, Ref
from quorate.workloads.rbg.group import Group, Owner

MARK = "quorate.dev/applied"


def owned(owner: Owner, kind: Kind, name: str, **fields: Json) -> Apply:
    """An object of the group's; `metadata` may hold labels and annotations."""
    given = fields.pop("metadata", {})
    metadata: Json = {
        **given,
        "labels": {**(given.get("labels") or {}), labels.RBG_GROUP_NAME: owner.name},
        "ownerReferences": [owner.reference],
    }
    mark = f"{crc32(msgspec.json.encode([metadata, fields], order='sorted')):08x}"
    metadata["annotations"] = {**(given.get("annotations") or {}), MARK: mark}
    target = Ref(kind=kind, name=name, namespace=owner.namespace)
    return Apply(target=target, body={"metadata": metadata, **fields})


def mark_of(change: Apply) -> str:
    return str(change.body["metadata"]["annotations"][MARK])


def shows(found: Object | None, change: Apply) -> bool:
    return found is not None and found.metadata.annotation(MARK) == mark_of(change)


def is_ours(found: Object, group: Group) -> bool:
    owner = found.metadata.controller
    return owner is not None and owner.uid == group.uid


def settled(
    kind: Kind, group: Group, wanted: Iterable[Apply], found: Mapping[str, Object]
) -> Iterator[Change]:
    """What is missing or differs is applied, what is ours and no longer wanted goes, what is not ours stays."""
    kept = set()
    for change in wanted:
        kept.add(change.target.name)
        there = found.get(change.target.name)
        # a mark that agrees is cheaper to see than an owner, and says more
        if there is None or (not shows(there, change) and is_ours(there, group)):
            yield change
    for name in sorted(found.keys() - kept):
        if is_ours(found[name], group) and found[name].metadata.deletion_timestamp is None:
            meta = found[name].metadata
            yield Delete(target=Ref(kind=kind, name=name, namespace=meta.namespace, uid=meta.uid))
