"""Carries out what a built-in controller decided, through the verbs of the API server, as one component.

A missing or replaced target is what the controller wanted or will see next, so it is no error.
"""

import asyncio
from collections.abc import Callable, Sequence
from itertools import groupby

from quorate.api.meta import Json, Kind
from quorate.embedded import updating
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.builtins.recorder import Recorder
from quorate.embedded.errors import ApiError
from quorate.embedded.options import DeleteOptions, Options, Propagation, User
from quorate.embedded.store import Key
from quorate.embedded.updating import Target
from quorate.plan import Change, Create, Delete, Emit, Patch, Ref
from quorate.workloads.builtin import kinds, outcome

_WIDEST = 32  # creates under way at once when admission webhooks make them wait
_PROPAGATIONS: dict[str, Propagation] = {
    "Foreground": "Foreground",
    "Orphan": "Orphan",
    "Background": "Background",
}


class Writer:
    def __init__(self, api: ApiServer, recorder: Recorder, component: str) -> None:
        self._api = api
        self._recorder = recorder
        self._component = component
        user = User(
            f"system:serviceaccount:kube-system:{component}", ("system:masters", "system:authenticated")
        )
        self._options = Options(user=user, field_manager="kube-controller-manager")
        self._user = user

    async def carry_out(self, about: Ref, changes: Sequence[Change]) -> None:
        """In order; creates go out in growing batches, so that one bad template costs one request."""
        for is_create, run in groupby(changes, key=lambda change: isinstance(change, Create)):
            if is_create:
                await self._create_all(about, [change for change in run if isinstance(change, Create)])
                continue
            for change in run:
                await self._one(change)

    async def _one(self, change: Change) -> None:
        match change:
            case Patch():
                await self.merge(change.target, change.body, change.subresource)
            case Delete():
                await self.delete(change.target, propagation=change.propagation)
            case Emit():
                await self.emit(change)
            case _:
                raise AssertionError(change)

    async def _create_all(self, about: Ref, creates: Sequence[Create]) -> None:
        width, start = 1, 0
        while start < len(creates):
            batch = creates[start : start + width]
            await asyncio.gather(*(self._announced(about, change) for change in batch))
            start, width = start + width, min(width * 2, _WIDEST)
            # Without webhooks a create never waits; the server's other tasks get their turn here.
            await asyncio.sleep(0)

    async def _announced(self, about: Ref, change: Create) -> None:
        kind = change.target.kind
        try:
            made = await self.create(kind, change.body)
        except ApiError as error:
            if error.reason == "AlreadyExists" and kind != kinds.POD:
                return
            if kind == kinds.POD:
                await self.emit(outcome.warning(about, "FailedCreate", f"Error creating: {error}"))
            raise
        if kind == kinds.POD:
            await self.emit(_created(about, made["metadata"]["name"]))
        elif kind == kinds.REPLICA_SET:
            name, size = made["metadata"]["name"], made["spec"].get("replicas", 1)
            text = f"Scaled up replica set {name} from 0 to {size}"
            await self.emit(outcome.event(about, "ScalingReplicaSet", text))

    async def create(self, kind: Kind, body: Json) -> Json:
        resource = self._api.resource(kind.group, kind.version, kind.plural)
        whole = {"apiVersion": kind.api_version, "kind": kind.kind, **body}
        return await self._api.create(resource, body["metadata"].get("namespace", ""), whole, self._options)

    async def ensure(self, kind: Kind, body: Json) -> None:
        """Create the object unless one of its name exists; then nobody is asked, webhooks included."""
        metadata = body["metadata"]
        key = Key(kind.group, kind.plural, metadata.get("namespace", ""), metadata["name"])
        if self._api.store.get(key) is not None:
            return
        try:
            await self.create(kind, body)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise

    async def merge(self, target: Ref, body: Json, subresource: str = "") -> None:
        """JSON merge patch on whatever is stored by then; a replaced object is left alone."""

        def patched(old: Json) -> Json:
            return old if _is_other(target, old) else merged(old, body)

        await self._change(target, subresource, patched)

    async def set_status(self, target: Ref, status: Json) -> None:
        """Put the whole status in place."""
        await self.revise_status(target, lambda _: status)

    async def revise_status(self, target: Ref, make: Callable[[Json], Json]) -> None:
        """Put in place the status that `make` derives from the object stored by then."""

        def changed(old: Json) -> Json:
            return old if _is_other(target, old) else {**old, "status": make(old)}

        await self._change(target, "status", changed)

    async def _change(self, target: Ref, subresource: str, make: Callable[[Json], Json]) -> None:
        try:
            await updating.change(self._api, self._target(target, subresource), make, self._options)
        except ApiError as error:
            if error.reason != "NotFound":
                raise

    async def delete(
        self, target: Ref, *, propagation: str | None = "Background", grace: int | None = None
    ) -> None:
        """With no propagation the object goes in the way that was asked for before."""
        way = _PROPAGATIONS[propagation] if propagation is not None else None
        options = DeleteOptions(user=self._user, grace_period_seconds=grace, propagation=way, uid=target.uid)
        try:
            await self._api.delete(self._target(target), options)
        except ApiError as error:
            if error.reason not in {"NotFound", "Conflict"}:
                raise

    async def bind(self, target: Ref, node: str) -> None:
        meta = {"name": target.name, "namespace": target.namespace, "uid": target.uid}
        body = {"metadata": meta, "target": {"apiVersion": "v1", "kind": "Node", "name": node}}
        try:
            await self._api.bind(self._target(target, "binding"), body, self._options)
        except ApiError as error:
            if error.reason not in {"NotFound", "Conflict"}:
                raise

    async def emit(self, note: Emit) -> None:
        body = self._recorder.event(self._component, note)
        if body is not None:
            await self.create(kinds.EVENT, body)

    def _target(self, target: Ref, subresource: str = "") -> Target:
        kind = target.kind
        resource = self._api.resource(kind.group, kind.version, kind.plural)
        return Target(resource, target.namespace, target.name, subresource)


def merged(old: Json, patch: Json) -> Json:
    """RFC 7386 on trees that are never changed in place."""
    new = dict(old)
    for key, value in patch.items():
        if value is None:
            new.pop(key, None)
        elif isinstance(value, dict):
            known = new.get(key)
            new[key] = merged(known if isinstance(known, dict) else {}, value)
        else:
            new[key] = value
    return new


def _is_other(target: Ref, old: Json) -> bool:
    return bool(target.uid and target.uid != old["metadata"]["uid"])


def _created(about: Ref, name: str) -> Emit:
    if about.kind == kinds.STATEFUL_SET:
        text = f"Create Pod {name} in StatefulSet {about.name} successful"
        return outcome.event(about, "SuccessfulCreate", text)
    return outcome.event(about, "SuccessfulCreate", f"Created pod: {name}")
