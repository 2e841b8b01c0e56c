"""From a wanted status to the one change that brings it about; an equal status is no change."""

import msgspec

from quorate.api.meta import Json, Kind, Object, Wire
from quorate.plan import Ref, SetStatus


def status_change(kind: Kind, about: Object, *, old: Wire, new: Wire) -> SetStatus | None:
    if old == new:
        return None
    before: Json = msgspec.to_builtins(old)
    after: Json = msgspec.to_builtins(new)
    if before == after:
        return None
    metadata = about.metadata
    target = Ref(kind=kind, name=metadata.name, namespace=metadata.namespace, uid=metadata.uid)
    return SetStatus(target=target, status=_merge_patch(before, after))


def _merge_patch(before: Json, after: Json) -> Json:
    """What differs, with None for what goes: a merge patch keeps every key that it does not name."""
    patch: Json = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key)
        if old == value:
            continue
        patch[key] = _merge_patch(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return patch
