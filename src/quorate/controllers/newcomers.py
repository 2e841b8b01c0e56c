"""New pods at admission: labelled as members of their gang before they are stored, so that the grouper need not.

Only what the caches show at this moment counts. A pod of which nobody can tell the gang yet passes as it is.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from quorate.api.core import Pod
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Json, ObjectMeta
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.controllers.contexts import Contexts, Fetched
from quorate.grouping.errors import NotFetchedError
from quorate.grouping.newcomers import membership
from quorate.grouping.objects import Address
from quorate.grouping.partial import Partial
from quorate.kube.caches import Caches
from quorate.kube.resources import Scope
from quorate.kube.webhook import AdmissionRequest


class Newcomers:
    """Called from the threads of the webhook server."""

    def __init__(self, caches: Caches, contexts: Contexts) -> None:
        self._contexts = contexts
        self._groups = caches.of(Scope(kind=POD_GROUP), PodGroup)
        self._sets = caches.of(Scope(kind=LEADER_WORKER_SET), LeaderWorkerSet, optional=True)

    def patch(self, request: AdmissionRequest) -> tuple[Json, ...]:
        """The JSON patch that labels the pod; a pod that cannot be read is for the API server to refuse."""
        body = request.object or {}
        try:
            pod = msgspec.convert(body, Pod)
        except msgspec.ValidationError:
            return ()
        pod.metadata.namespace = pod.metadata.namespace or request.namespace
        return tuple(_operations(self._membership(pod), body.get("metadata") or {}))

    def _membership(self, pod: Pod) -> Json:
        """Nothing where what is known does not tell, or may be old."""
        if self._groups.problem:
            return {}
        known: Fetched = {}
        while True:
            try:
                return membership(pod, self._contexts.context(known), self._groups.get)
            except NotFetchedError as missing:
                key = missing.address.key
                found = None if key in known else self._known(missing.address)
                if found is None:
                    return {}
                known[key] = found

    def _known(self, address: Address) -> Json | None:
        if (address.group, address.kind) == (LEADER_WORKER_SET.group, LEADER_WORKER_SET.kind):
            found_set = self._sets.get(address.namespace, address.name)
            return None if found_set is None or self._sets.problem else _whole(found_set)
        found = self._contexts.owners.known(
            address.api_version, address.kind, address.namespace, address.name
        )
        return Partial(address, msgspec.to_builtins(found)) if isinstance(found, ObjectMeta) else found


def _whole(found: LeaderWorkerSet) -> Json:
    """The set as far as grouping reads it, with the size even where that is the default."""
    body: Json = msgspec.to_builtins(found)
    body |= {"apiVersion": LEADER_WORKER_SET.api_version, "kind": LEADER_WORKER_SET.kind}
    body["spec"]["leaderWorkerTemplate"].setdefault("size", found.spec.leader_worker_template.size)
    return body


def _operations(wanted: Json, metadata: Json) -> Iterator[Json]:
    """A merge patch of metadata in the words of RFC 6902."""
    for field, said in wanted.items():
        if not metadata.get(field):
            given = {key: value for key, value in said.items() if value is not None}
            yield {"op": "add", "path": f"/metadata/{field}", "value": given}
            continue
        for key, value in said.items():
            path = f"/metadata/{field}/{_escaped(key)}"
            yield {"op": "remove", "path": path} if value is None else _added(path, value)


def _added(path: str, value: Any) -> Json:
    return {"op": "add", "path": path, "value": value}


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
