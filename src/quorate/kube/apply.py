"""The only writer: each `Change` of a plan becomes exactly one API request with preconditions.

1. Evictions go first, and are answered, before anything else is sent.
2. Everything else starts in plan order, up to `CONCURRENCY` at once; changes to one object stay in order.
3. After a change that did not happen, later changes to the same object are skipped: they were planned on it.
4. Expected outcomes are data (`Result`), never exceptions; what is not done is for the caller to re-plan.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Sequence

from quorate.kube import metrics
from quorate.kube.client import Client, Request
from quorate.kube.errors import KubeError, NotFound
from quorate.kube.events import Journal
from quorate.kube.outcome import Outcome, Result, Written, outcome_of
from quorate.kube.resources import (
    apply_request,
    bind_request,
    create_request,
    delete_request,
    evict_request,
    patch_request,
    status_request,
)
from quorate.kube.rush import Rush
from quorate.plan import Apply, Bind, Change, Create, Delete, Emit, Evict, Patch, Plan, Ref, SetStatus

log = logging.getLogger(__name__)

CONCURRENCY = 32
Place = tuple[int, Change]


class Writer:
    def __init__(
        self,
        client: Client,
        component: str,
        *,
        concurrency: int = CONCURRENCY,
        rush: Rush | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._journal = Journal(component)
        self._concurrency = concurrency
        self._rush = rush or Rush()
        self._now = now

    async def write(self, plan: Plan) -> Result:
        """The outcome of every change, in plan order."""
        outcomes: dict[int, Written] = {}
        numbered = list(enumerate(plan.changes))
        await self._write_all([place for place in numbered if isinstance(place[1], Evict)], outcomes)
        others = [place for place in numbered if not isinstance(place[1], Evict)]
        has_binds = any(isinstance(change, Bind) for _, change in others)
        with self._rush.going() if has_binds else contextlib.nullcontext():
            await self._write_all(others, outcomes)
        return Result(tuple(outcomes[index] for index in range(len(numbered))))

    async def _write_all(self, places: Sequence[Place], outcomes: dict[int, Written]) -> None:
        chains = by_object(places)
        waiting = iter(chains)
        width = min(self._concurrency, len(chains))
        if width == 1:
            await self._work_off(waiting, outcomes)
            return
        async with asyncio.TaskGroup() as group:
            for _ in range(width):
                group.create_task(self._work_off(waiting, outcomes))

    async def _work_off(self, waiting: Iterable[list[Place]], outcomes: dict[int, Written]) -> None:
        # all workers draw from one iterator, so that the start order is the plan's order
        for chain in waiting:
            unmet: Written | None = None
            for index, change in chain:
                written = skipped(change, unmet) if unmet else await self._one(change)
                outcomes[index] = written
                metrics.writes(type(change).__name__, written.outcome).inc()
                if written.outcome is not Outcome.DONE and not isinstance(change, Emit):
                    unmet = unmet or written

    async def _one(self, change: Change) -> Written:
        try:
            request = self._request(change)
            if request is not None:
                await self._client.send(request)
        except KubeError as error:
            return self._unmet(change, error)
        return Written(change, Outcome.DONE)

    def _unmet(self, change: Change, error: KubeError) -> Written:
        if isinstance(change, Emit) and isinstance(error, NotFound):
            self._journal.forget(change)
        outcome = outcome_of(error)
        log.debug("%s %s: %s: %s", type(change).__name__, target_of(change), outcome, error)
        return Written(change, outcome, str(error))

    def _request(self, change: Change) -> Request | None:  # noqa: PLR0911 - one line a change, read as a table
        match change:
            case Bind():
                return bind_request(change)
            case Evict():
                return evict_request(change)
            case Create():
                return create_request(change)
            case Apply():
                return apply_request(change)
            case Patch():
                return patch_request(change)
            case SetStatus():
                return status_request(change)
            case Delete():
                return delete_request(change)
            case Emit():
                return self._journal.request(change, self._now())


def target_of(change: Change) -> Ref:
    match change:
        case Bind() | Evict():
            return change.pod
        case Emit():
            return change.about
        case _:
            return change.target


def by_object(places: Iterable[Place]) -> list[list[Place]]:
    """Chains of changes to one object; chains stand in the order of their first change."""
    chains: dict[tuple[str, str, str], list[Place]] = {}
    for place in places:
        ref = target_of(place[1])
        chains.setdefault((ref.kind.resource, ref.namespace, ref.name), []).append(place)
    return list(chains.values())


def skipped(change: Change, cause: Written) -> Written:
    return Written(change, Outcome.SKIPPED, f"{type(cause.change).__name__} {cause.outcome}: {cause.message}")
