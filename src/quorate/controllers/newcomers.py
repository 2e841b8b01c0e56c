"""New pods at admission: labelled as members of their gang before they are stored, so that the grouper need not.

Only what the caches show at this moment counts. A pod of which nobody can tell the gang yet passes as it is.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from quorate.api.core import Pod
from quorate.api.meta import Json
from quorate.controllers.contexts import Contexts
from quorate.grouping.newcomers import membership
from quorate.kube.webhook import AdmissionRequest


class Newcomers:
    def __init__(self, contexts: Contexts) -> None:
        self._contexts = contexts

    def patch(self, request: AdmissionRequest) -> tuple[Json, ...]:
        """The JSON patch that labels the pod; a pod that cannot be read is for the API server to refuse."""
        body = request.object
        try:
            pod = msgspec.convert(body, Pod)
        except msgspec.ValidationError:
            return ()
        pod.metadata.namespace = pod.metadata.namespace or request.namespace
        found = self._contexts.with_known(lambda context: membership(pod, context))
        return tuple(_operations(found or {}, (body or {}).get("metadata") or {}))


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
