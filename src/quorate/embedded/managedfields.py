"""Who owns which field: ownership of writes, and server-side apply, with the results of a real server.

`track` is called for every create, update and patch before mutating admission changes the object; `apply`
merges an applied configuration, refuses conflicts, and removes what its manager no longer applies.

Ownership is computed at once, not on demand: for a create it is one walk over the object, and for an update
one over the branches that differ, with unequal branches found by dict equality. Both are far below the cost
of decoding the same object, so nothing has to be kept for later.
"""

from typing import Any, NamedTuple

from quorate.api.meta import Json
from quorate.embedded import fieldcheck, fieldmerge, fieldset, fieldwalk, lastapplied
from quorate.embedded.shape import Shape

# More update entries than this are folded into one, oldest first.
MAX_UPDATERS = 10
_ANCIENT = "ancient-changes"

_STRIPPED: Json = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {
        ".": {},
        **{
            f"f:{name}": {}
            for name in (
                "name", "namespace", "creationTimestamp", "selfLink", "uid",
                "clusterName", "generation", "managedFields", "resourceVersion",
            )
        },
    },
}  # fmt: skip


class Writer(NamedTuple):
    """Who writes, through which door."""

    manager: str
    api_version: str
    subresource: str = ""


class Identity(NamedTuple):
    """What makes two entries one; an applier is the same whatever version it applies."""

    manager: str
    operation: str
    api_version: str
    subresource: str


class Entry(NamedTuple):
    """What one manager owns."""

    api_version: str
    time: str
    fields: Json


Entries = dict[Identity, Entry]


class InvalidConfiguration(ValueError):  # noqa: N818 - named after what the caller sent
    """An applied configuration that cannot be merged: 400."""


class UntypedConfiguration(InvalidConfiguration):
    """A configuration that does not fit its kind: 500, as on a real server."""


class ApplyConflict(Exception):  # noqa: N818 - named after the refusal that it is
    """Fields to be applied belong to others; str() and `causes` are what a real server answers."""

    def __init__(self, conflicts: Entries) -> None:
        self.pairs = [
            (identity, path) for identity, entry in conflicts.items() for path in fieldset.paths(entry.fields)
        ]
        self.fields = conflicts
        super().__init__(_conflict_text(self.pairs))

    @property
    def causes(self) -> list[Json]:
        return [
            {"reason": "FieldManagerConflict", "message": f"conflict with {_printed(owner)}", "field": path}
            for owner, path in self.pairs
        ]


def _printed(owner: Identity) -> str:
    text = f'"{owner.manager}"'
    if owner.subresource:
        text += f' with subresource "{owner.subresource}"'
    return f"{text} using {owner.api_version}" if owner.operation == "Update" else text


def _conflict_text(pairs: list[tuple[Identity, str]]) -> str:
    if len(pairs) == 1:
        owner, path = pairs[0]
        return f"Apply failed with 1 conflict: conflict with {_printed(owner)}: {path}"
    lines: list[str] = []
    for owner in sorted({owner for owner, _ in pairs}):
        lines.append(f"conflicts with {_printed(owner)}:")
        lines += [f"- {path}" for other, path in pairs if other == owner]
    return f"Apply failed with {len(pairs)} conflicts: " + "\n".join(lines)


def decode(entries: Any) -> Entries:
    """The entries of an object's metadata.managedFields; MalformedFields if no server wrote them."""
    decoded: Entries = {}
    for position, entry in enumerate(entries or ()):
        if not isinstance(entry, dict) or entry.get("operation") not in {"Apply", "Update"}:
            raise fieldset.MalformedFields("operation must be `Apply` or `Update`")
        if entry.get("fieldsType") != "FieldsV1":
            raise fieldset.MalformedFields(
                f"missing or invalid fieldsType in managed fields entry {position}"
            )
        version = entry.get("apiVersion") or ""
        identity = _identity(
            entry.get("manager", ""), entry["operation"], version, entry.get("subresource", "")
        )
        fields = fieldset.decode(entry.get("fieldsV1") or {})
        decoded[identity] = Entry(version, entry.get("time") or "", fields)
    return decoded


def _identity(manager: str, operation: str, version: str, subresource: str) -> Identity:
    return Identity(manager, operation, "" if operation == "Apply" else version, subresource)


def _stored(entries: list[Json] | None) -> Entries:
    """Entries written by `encode` before: their tries are in form, and shared."""
    return {
        _identity(
            entry["manager"], entry["operation"], entry["apiVersion"], entry.get("subresource", "")
        ): Entry(entry["apiVersion"], entry.get("time", ""), entry["fieldsV1"])
        for entry in entries or ()
    }


def encode(entries: Entries) -> list[Json]:
    """The entries as a server stores them: appliers first, each kind by time, then by name."""
    ordered = sorted(entries.items(), key=lambda item: (item[0].operation, item[1].time, *item[0]))
    encoded = []
    for identity, entry in ordered:
        row: Json = {
            "manager": identity.manager,
            "operation": identity.operation,
            "apiVersion": entry.api_version,
        }
        if entry.time:
            row["time"] = entry.time
        row |= {"fieldsType": "FieldsV1", "fieldsV1": entry.fields}
        if identity.subresource:
            row["subresource"] = identity.subresource
        encoded.append(row)
    return encoded


def track(
    shape: Shape, live: Json | None, new: Json, writer: Writer, now: str, ignored: Json | None = None
) -> Json:
    """The new object with the ownership that this create or update gives its writer.

    `live` is what is stored, None for a create; `ignored` is the set of fields that this door cannot write.
    """
    entries = _starting(live, new, writer)
    bare = _bare(new)
    touched, removed = fieldwalk.compare(shape, _bare(live) if live else {}, bare)
    if ignored:
        touched = fieldset.recursive_difference(touched, ignored)
        removed = fieldset.recursive_difference(removed, ignored)
    if touched or removed:
        entries = _shed(entries, touched, removed)
        gained = fieldset.difference(touched, _STRIPPED)
        if gained:
            identity = _identity(writer.manager, "Update", writer.api_version, writer.subresource)
            before = entries[identity].fields if identity in entries else {}
            entries[identity] = Entry(writer.api_version, now, fieldset.union(gained, before))
        entries = _capped(entries)
    return _with_entries(bare, entries)


def _starting(live: Json | None, new: Json, writer: Writer) -> Entries:
    """The entries to go on from: those sent, unless this is a subresource or they say nothing usable."""
    stored = (live.get("metadata") or {}).get("managedFields") if live else None
    sent = (new.get("metadata") or {}).get("managedFields")
    if sent is None or sent is stored or writer.subresource or sent == stored:
        return _stored(stored)
    if sent in ([], [{}]):
        return {}
    try:
        return decode(sent) or _stored(stored)
    except fieldset.MalformedFields:
        return _stored(stored)


def _bare(whole: Json) -> Json:
    metadata = whole.get("metadata") or {}
    if "managedFields" not in metadata:
        return whole
    return {**whole, "metadata": {name: value for name, value in metadata.items() if name != "managedFields"}}


def _with_entries(bare: Json, entries: Entries) -> Json:
    if not entries:
        return bare
    return {**bare, "metadata": {**(bare.get("metadata") or {}), "managedFields": encode(entries)}}


def _shed(entries: Entries, touched: Json, removed: Json) -> Entries:
    """The entries without the fields that somebody else has now changed or removed."""
    kept: Entries = {}
    for identity, entry in entries.items():
        left = fieldset.difference(fieldset.difference(entry.fields, touched), removed)
        if left:
            kept[identity] = entry._replace(fields=left)
    return kept


def _capped(entries: Entries) -> Entries:
    """At most MAX_UPDATERS update entries: the oldest of a version become one."""
    updaters = sorted((i for i in entries if i.operation == "Update"), key=lambda i: (entries[i].time, i))
    excess = len(updaters) - MAX_UPDATERS
    if excess <= 0:
        return entries
    kept = dict(entries)
    first: dict[str, Identity] = {}
    for identity in updaters:
        if excess <= 0:
            break
        version = identity.api_version
        if version not in first:
            first[version] = identity
            continue
        bucket = Identity(_ANCIENT, "Update", version, "")
        merged = kept[bucket] if bucket in kept else kept.pop(first[version])
        taken = kept.pop(identity)
        kept[bucket] = taken._replace(fields=fieldset.union(taken.fields, merged.fields))
        excess -= 1
    return kept


def apply(shape: Shape, live: Json, config: Json, writer: Writer, now: str, *, force: bool) -> Json:
    """The live object after server-side apply; `live` itself, by identity, if nothing changes.

    For an object that does not exist yet, `live` holds no more than apiVersion, kind, name and namespace.
    Raises ApplyConflict unless forced, and InvalidConfiguration or UntypedConfiguration.
    """
    if (config.get("metadata") or {}).get("managedFields"):
        raise InvalidConfiguration("metadata.managedFields must be nil")
    if complaints := fieldcheck.complaints(shape, config):
        raise UntypedConfiguration(f"failed to create typed patch object ({_named(config)}): {complaints}")
    entries = _stored((live.get("metadata") or {}).get("managedFields"))
    bare = _bare(live)
    config = _bare(config)
    try:
        merged, entries = _apply(shape, bare, config, (writer, entries), force=force)
    except ApplyConflict as conflict:
        if writer.manager != "kubectl":
            raise
        _allow_upgrade(shape, bare, conflict)
        merged, entries = _apply(shape, bare, config, (writer, entries), force=True)
    identity = _identity(writer.manager, "Apply", writer.api_version, writer.subresource)
    if merged != bare and identity in entries:
        entries[identity] = entries[identity]._replace(time=now)
    if writer.manager == "kubectl":
        merged = lastapplied.refreshed(merged, config)
    result = _with_entries(merged, entries)
    return live if result == live else result


def _named(config: Json) -> str:
    metadata = config.get("metadata") or {}
    namespace, name = metadata.get("namespace", ""), metadata.get("name", "")
    return f"{namespace}/{name}; {config.get('apiVersion')}, Kind={config.get('kind')}"


def _apply(
    shape: Shape, bare: Json, config: Json, state: tuple[Writer, Entries], *, force: bool
) -> tuple[Json, Entries]:
    """The merged and pruned object with all entries, times still as before."""
    writer, entries = state
    identity = _identity(writer.manager, "Apply", writer.api_version, writer.subresource)
    last = entries.get(identity)
    claimed = fieldwalk.applied(shape, config)
    merged: Json = fieldmerge.merge(shape, bare, config)
    if last is not None:
        others = [entry.fields for other, entry in entries.items() if other != identity]
        merged = fieldmerge.prune(shape, merged, last.fields, [*others, claimed])
    touched, removed = fieldwalk.compare(shape, bare, merged)
    others_now = {other: entry for other, entry in entries.items() if other != identity}
    conflicts = {
        other: entry._replace(fields=clash)
        for other, entry in others_now.items()
        if (clash := fieldset.intersection(entry.fields, touched))
    }
    if conflicts and not force:
        raise ApplyConflict(conflicts)
    kept = _shed(others_now, touched, removed)
    mine = fieldset.difference(claimed, _STRIPPED)
    if mine:
        kept[identity] = Entry(writer.api_version, last.time if last else "", mine)
    return merged, kept


def _allow_upgrade(shape: Shape, live: Json, conflict: ApplyConflict) -> None:
    """Let kubectl take over what its own client-side apply has set; raise for the rest."""
    allowed = lastapplied.owned(shape, live)
    rest = {
        owner: entry._replace(fields=left)
        for owner, entry in conflict.fields.items()
        if (left := fieldset.difference(entry.fields, allowed))
    }
    if rest:
        raise ApplyConflict(rest) from None
