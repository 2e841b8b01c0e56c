"""The query of a request as options, refused with the server's words where it makes no sense."""

from collections.abc import Mapping
from typing import Any, Literal, cast

from quorate.api.meta import Json
from quorate.embedded import causes
from quorate.embedded.errors import ApiError, bad_request
from quorate.embedded.optionerrors import refused
from quorate.embedded.options import DeleteOptions, ListOptions, Options, Propagation, User, WatchOptions
from quorate.embedded.registry import Resource
from quorate.embedded.selectors import Selection, parse_fields, parse_labels, selectable_fields

Query = Mapping[str, str]
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})


def flag(query: Query, name: str) -> bool:
    """Present and empty counts as set, as in kubectl's `?watch`."""
    value = query.get(name)
    return value is not None and (value == "" or value in _TRUE)


def number(query: Query, name: str) -> int:
    text = query.get(name, "")
    if not text:
        return 0
    try:
        return int(text)
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


def is_dry_run(query: Query, kind: str) -> bool:
    value = query.get("dryRun", "")
    if value not in {"", "All"}:
        raise refused(kind, causes.not_supported("dryRun", [value], ["All"]))
    return value == "All"


def selection(query: Query, resource: Resource) -> Selection:
    labels, fields = query.get("labelSelector", ""), query.get("fieldSelector", "")
    if not labels and not fields:
        return Selection()
    known = selectable_fields(resource.group, resource.plural, resource.definition)
    return Selection(
        parse_labels(labels), parse_fields(fields, known, is_custom=resource.definition is not None)
    )


def list_options(query: Query, resource: Resource) -> ListOptions:
    match = query.get("resourceVersionMatch", "")
    version = query.get("resourceVersion", "")
    if match not in {"", "Exact", "NotOlderThan"}:
        found = causes.not_supported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""])
        raise refused("ListOptions", found)
    if match and not version:
        raise _unmatched("resourceVersionMatch is forbidden unless resourceVersion is provided")
    return ListOptions(
        selection=selection(query, resource),
        limit=number(query, "limit"),
        continue_token=query.get("continue", ""),
        resource_version=version,
        match=cast("Literal['', 'Exact', 'NotOlderThan']", match),
    )


def watch_options(query: Query, resource: Resource) -> WatchOptions:
    initial, match = query.get("sendInitialEvents"), query.get("resourceVersionMatch", "")
    if initial is None and match:
        raise _unmatched("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
    if initial is not None and match != "NotOlderThan":
        raise _unmatched("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
    return WatchOptions(
        selection=selection(query, resource),
        resource_version=query.get("resourceVersion", ""),
        bookmarks=flag(query, "allowWatchBookmarks"),
        send_initial_events=flag(query, "sendInitialEvents"),
        timeout_seconds=number(query, "timeoutSeconds"),
    )


def _unmatched(why: str) -> ApiError:
    return refused("ListOptions", causes.forbidden("resourceVersionMatch", why))


def write_options(query: Query, user: User, agent: str, kind: str) -> Options:
    """`kind` is CreateOptions, UpdateOptions or PatchOptions; a client without manager has its agent's name."""
    validation = query.get("fieldValidation", "") or "Warn"
    if validation not in {"Ignore", "Warn", "Strict"}:
        supported = ["", "Ignore", "Strict", "Warn"]
        raise refused(kind, causes.not_supported("fieldValidation", validation, supported))
    return Options(
        user=user,
        dry_run=is_dry_run(query, kind),
        field_manager=query.get("fieldManager", "") or agent.split("/", 1)[0],
        field_validation=cast("Literal['Ignore', 'Warn', 'Strict']", validation),
        force=flag(query, "force"),
    )


def delete_options(query: Query, tree: Any, user: User) -> DeleteOptions:
    """The DeleteOptions object of the body; what it leaves open may stand in the query."""
    if not isinstance(tree, dict):
        raise bad_request("decoded object cannot be converted to DeleteOptions")
    given: Json = {name: query[name] for name in ("gracePeriodSeconds", "propagationPolicy") if name in query}
    given |= tree
    preconditions = given.get("preconditions") or {}
    dry_run = given.get("dryRun") or []
    if dry_run not in ([], ["All"]):
        raise refused("DeleteOptions", causes.not_supported("dryRun", dry_run, ["All"]))
    return DeleteOptions(
        user=user,
        dry_run=bool(dry_run) or is_dry_run(query, "DeleteOptions"),
        grace_period_seconds=_grace(given.get("gracePeriodSeconds")),
        propagation=_propagation(given),
        uid=preconditions.get("uid") or "",
        resource_version=preconditions.get("resourceVersion") or "",
    )


def _grace(value: Any) -> int | None:
    if value is None:
        return None
    try:
        return int(value)
    except (TypeError, ValueError):
        raise bad_request(f"gracePeriodSeconds: Invalid value: {value}: must be an integer") from None


def _propagation(given: Json) -> Propagation | None:
    policy, orphan = given.get("propagationPolicy"), given.get("orphanDependents")
    if policy is not None and orphan is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        raise refused("DeleteOptions", causes.invalid("propagationPolicy", policy, why))
    if orphan is not None:
        return "Orphan" if orphan else "Background"
    if policy not in {None, "", "Foreground", "Background", "Orphan"}:
        supported = ["Foreground", "Background", "Orphan", "nil"]
        raise refused("DeleteOptions", causes.not_supported("propagationPolicy", policy, supported))
    return cast("Propagation | None", policy or None)
