"""Rules of the metadata that every object has, built-in or custom."""

from collections.abc import Callable

from quorate.api.meta import Json
from quorate.embedded.causes import Cause, forbidden, invalid, required, too_long
from quorate.embedded.validation import names

Rule = Callable[[str], names.Messages]

IMMUTABLE = "field is immutable"
_ANNOTATION_BYTES = 256 * 1024
_NAME_SUFFIX = "aaaaa"
_FIXED = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_ORPHAN, _FOREGROUND = "orphan", "foregroundDeletion"
_STANDARD_FINALIZERS = frozenset((_ORPHAN, _FOREGROUND, "kubernetes"))
_DELETION_FINALIZERS = frozenset((_ORPHAN, _FOREGROUND))


def metadata(meta: Json, name_rule: Rule, *, namespaced: bool) -> list[Cause]:
    """The rules for a new object; names were generated before."""
    found: list[Cause] = []
    generate_name = meta.get("generateName")
    if generate_name:
        # A dash at the end is fine in a prefix: what follows it is generated.
        messages = name_rule(generate_name.rstrip("-") + _NAME_SUFFIX)
        found += [invalid("metadata.generateName", generate_name, message) for message in messages]
    name = meta.get("name")
    if not name:
        found.append(required("metadata.name", "name or generateName is required"))
    else:
        found += [invalid("metadata.name", name, message) for message in name_rule(name)]
    return found + _namespace(meta, namespaced=namespaced) + _described(meta) + _finalizers(meta)


def metadata_update(new: Json, old: Json) -> list[Cause]:
    found: list[Cause] = []
    if old.get("deletionTimestamp") and new.get("finalizers"):
        extra = sorted(set(new["finalizers"]) - set(old.get("finalizers") or ()))
        if extra:
            listed = ", ".join(f'"{finalizer}"' for finalizer in extra)
            detail = (
                "no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{listed}}}"
            )
            found.append(forbidden("metadata.finalizers", detail))
    unchanged(found, new, old, "metadata", *_FIXED)
    return found + _described(new)


def labels(found: list[Cause], pairs: Json, path: str) -> None:
    for key, value in pairs.items():
        found += [invalid(path, key, message) for message in names.label_key(key)]
        found += [invalid(path, value, message) for message in names.label_value(value)]


def annotations(found: list[Cause], pairs: Json, path: str) -> None:
    for key in pairs:
        found += [invalid(path, key, text) for text in names.label_key(key.lower())]
    if sum(len(key) + len(value) for key, value in pairs.items()) > _ANNOTATION_BYTES:
        found.append(too_long(path, _ANNOTATION_BYTES))


def _namespace(meta: Json, *, namespaced: bool) -> list[Cause]:
    namespace = meta.get("namespace")
    if not namespaced:
        return [forbidden("metadata.namespace", "not allowed on this type")] if namespace else []
    if not namespace:
        return [required("metadata.namespace")]
    return [invalid("metadata.namespace", namespace, message) for message in names.dns_label(namespace)]


def _described(meta: Json) -> list[Cause]:
    found: list[Cause] = []
    if meta.get("labels"):
        labels(found, meta["labels"], "metadata.labels")
    annotations(found, meta.get("annotations") or {}, "metadata.annotations")
    if meta.get("ownerReferences"):
        found += _owners(meta["ownerReferences"])
    return found


def _owners(owners: list[Json]) -> list[Cause]:
    path = "metadata.ownerReferences"
    found: list[Cause] = []
    controller = ""
    for owner in owners:
        if not owner.get("apiVersion", "").rpartition("/")[2]:
            found.append(
                invalid(f"{path}.apiVersion", owner.get("apiVersion", ""), "version must not be empty")
            )
        absent = [field for field in ("kind", "name", "uid") if not owner.get(field)]
        found += [invalid(f"{path}.{field}", "", "must not be empty") for field in absent]
        if (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Event"):
            found.append(invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner"))
        if owner.get("controller"):
            name = f"{owner.get('kind')}/{owner.get('name')}"
            if controller:
                detail = (
                    "Only one reference can have Controller set to true. "
                    f'Found "true" in references for {controller} and {name}'
                )
                found.append(invalid(path, owners, detail))
            controller = controller or name
    return found


def _finalizers(meta: Json) -> list[Cause]:
    finalizers = meta.get("finalizers")
    if not finalizers:
        return []
    path = "metadata.finalizers"
    found = [invalid(path, one, message) for one in finalizers for message in names.label_key(one)]
    if _DELETION_FINALIZERS.issubset(finalizers):
        detail = f"finalizer {_ORPHAN} and {_FOREGROUND} cannot be both set"
        found.append(invalid(path, finalizers, detail))
    return found


def bare_finalizers(meta: Json) -> list[Cause]:
    """Objects of built-in kinds take finalizers of others only by full name."""
    detail = "name is neither a standard finalizer name nor is it fully qualified"
    return [
        invalid(f"metadata.finalizers[{index}]", one, detail)
        for index, one in enumerate(meta.get("finalizers") or ())
        if "/" not in one and one not in _STANDARD_FINALIZERS
    ]


def unchanged(found: list[Cause], new: Json, old: Json, path: str, *fields: str) -> None:
    """One cause for each field that differs."""
    changed = [field for field in fields if new.get(field) != old.get(field)]
    found += [invalid(f"{path}.{field}" if path else field, new.get(field), IMMUTABLE) for field in changed]
