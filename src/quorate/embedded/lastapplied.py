"""The annotation of kubectl's client-side apply, which server-side apply takes over from and keeps in step."""

import msgspec

from quorate.api.meta import Json
from quorate.embedded import fieldset, fieldwalk
from quorate.embedded.shape import Shape

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# The real server's limit for all annotations of an object.
_LARGEST = 256 * 1024


def owned(shape: Shape, live: Json) -> Json:
    """The fields that client-side apply has set and nobody has changed since; none without a readable annotation."""
    annotations = (live.get("metadata") or {}).get("annotations") or {}
    try:
        last = msgspec.json.decode(annotations.get(LAST_APPLIED, ""))
    except msgspec.DecodeError:
        return {}
    if not isinstance(last, dict) or last.get("apiVersion") != live.get("apiVersion"):
        return {}
    touched, removed = fieldwalk.compare(shape, last, live)
    return fieldset.difference(fieldset.difference(fieldwalk.applied(shape, last), touched), removed)


def refreshed(merged: Json, config: Json) -> Json:
    """The merged object whose annotation, where it has one, says what was applied now."""
    metadata = merged.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if not annotations.get(LAST_APPLIED):
        return merged
    applied = {**config, "metadata": dict(config.get("metadata") or {})}
    if "annotations" in applied["metadata"]:
        own = applied["metadata"]["annotations"] or {}
        applied["metadata"]["annotations"] = {k: v for k, v in own.items() if k != LAST_APPLIED}
    text = msgspec.json.encode(applied, order="sorted").decode() + "\n"
    rest = {name: value for name, value in annotations.items() if name != LAST_APPLIED}
    size = len(text) + sum(len(name) + len(value) for name, value in rest.items())
    kept = rest if size > _LARGEST else {**annotations, LAST_APPLIED: text}
    return {**merged, "metadata": {**metadata, "annotations": kept}}
