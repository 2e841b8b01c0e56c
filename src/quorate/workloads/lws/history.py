"""The revisions of one set in one pass: the newest, the one that held before a rollout, and how to make both."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from quorate.api.apps import CONTROLLER_REVISION, ControllerRevision
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Json
from quorate.plan import Change, Create, Delete, Emit, EventType, Patch, Ref
from quorate.workloads.lws import revisions
from quorate.workloads.lws.blueprint import Blueprint, blueprint_of
from quorate.workloads.lws.groups import Group


@dataclass(frozen=True, slots=True)
class History:
    """`update` and `current` are keys; `changes` record what is new and drop what nobody needs."""

    update: str
    current: str
    blueprints: Mapping[str, Blueprint]
    changes: Sequence[Change]

    @property
    def newest(self) -> Blueprint:
        return self.blueprints[self.update]

    def of(self, key: str) -> Blueprint:
        """How groups of a revision are made; one that is not on record any more is made as the newest."""
        return self.blueprints.get(key, self.newest)


def history_of(
    item: LeaderWorkerSet,
    known: Sequence[ControllerRevision],
    groups: Mapping[int, Group],
    scheduler_name: str,
) -> History:
    recorded: list[Json] = [
        msgspec.to_builtins(found) | {"revision": found.revision}
        for found in known
        if found.data is not None and found.metadata.controller is not None
        if found.metadata.controller.uid == item.metadata.uid
    ]
    contents = {revisions.key_recorded(found): found["data"] for found in recorded}
    today = revisions.content(item)
    equal = revisions.equal_among(recorded, today)
    update = revisions.key_recorded(equal) if equal else revisions.key(today)
    contents.setdefault(update, today)
    current = _current(item, update, contents, groups)
    used = {update, current, *(group.revision for group in groups.values())}
    return History(
        update=update,
        current=current,
        blueprints={
            key: blueprint_of(item, key, content, scheduler_name=scheduler_name)
            for key, content in contents.items()
        },
        changes=[*_recorded(item, recorded, today, equal), *_dropped(recorded, used)],
    )


def _current(
    item: LeaderWorkerSet, update: str, contents: Collection[str], groups: Mapping[int, Group]
) -> str:
    """The revision of groups that the rollout has not reached, also of those that are missing now."""
    noted = item.status.current_revision
    if noted in contents:
        return noted
    present = [group.revision for group in groups.values() if group.revision in contents]
    return next((key for key in present if key != update), update)


def _recorded(
    item: LeaderWorkerSet, recorded: Sequence[Json], today: Json, equal: Json | None
) -> Iterator[Change]:
    number = revisions.next_number(recorded)
    about = Ref(
        kind=LEADER_WORKER_SET,
        name=item.metadata.name,
        namespace=item.metadata.namespace,
        uid=item.metadata.uid,
    )
    if equal is None:
        body = revisions.recorded(item, today, number)
        yield Create(_ref(body), body)
        text = f"Creating revision with key {revisions.key_recorded(body)} for the newest template"
        yield Emit(about=about, type=EventType.NORMAL, reason="CreatingRevision", message=text)
    elif equal["revision"] < number - 1:
        yield Patch(_ref(equal), {"revision": number})  # an earlier template is wanted again


def _dropped(recorded: Sequence[Json], used: Collection[str]) -> Iterator[Change]:
    for found in revisions.disposable(recorded, used):
        yield Delete(_ref(found))


def _ref(body: Json) -> Ref:
    meta = body["metadata"]
    return Ref(
        kind=CONTROLLER_REVISION, name=meta["name"], namespace=meta["namespace"], uid=meta.get("uid", "")
    )
