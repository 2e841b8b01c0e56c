"""The one loop: dirty key → read caches → pure function → write the plan → back-off.

A controller is an adapter: while it is built it asks `Caches` for what it reads and subscribes to changes
that make keys dirty; `reconcile` turns one key into a `Step`. Whatever goes wrong in a step is logged here,
and the key comes back later: this module has the one broad `except` of the product.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol

from prometheus_client import Counter, Histogram

from quorate.kube.apply import Writer
from quorate.kube.backoff import K
from quorate.kube.errors import KubeError
from quorate.kube.keys import Closed, Keys
from quorate.kube.outcome import Outcome, Result
from quorate.plan import Plan

log = logging.getLogger(__name__)

RECONCILES = Counter("quorate_reconciles_total", "Steps of the loop", ["controller", "result"])
RECONCILE_SECONDS = Histogram(
    "quorate_reconcile_seconds", "Time of one step, writes included", ["controller"]
)
# outcomes that a newer version of the cache will settle by itself
EXPECTED = {Outcome.CONFLICT, Outcome.GONE, Outcome.REFUSED_BY_BUDGET, Outcome.SKIPPED}


@dataclass(frozen=True)
class Step:
    """What a reconcile asks for: a plan, and when to look again even if nothing changes.

    `after` sees the outcomes and may say earlier when to look again. What was not done brings the key back after its
    back-off, unless the controller settles failures itself, in `after`. A step that only waits tried nothing:
    failures before it still count.
    """

    plan: Plan = field(default_factory=Plan)
    again_seconds: float | None = None
    after: Callable[[Result], float | None] | Callable[[Result], None] | None = None
    settles_failures: bool = False
    only_waits: bool = False


class Controller(Protocol[K]):
    """`keys` are dirty keys; several are worked on at once, never one key twice."""

    @property
    def name(self) -> str: ...

    @property
    def keys(self) -> Keys[K]: ...

    async def reconcile(self, key: K) -> Step: ...


class Loop(Generic[K]):
    def __init__(self, controller: Controller[K], writer: Writer, *, workers: int = 4) -> None:
        self._controller = controller
        self._keys = controller.keys
        self._writer = writer
        self._workers = workers
        self._seconds = RECONCILE_SECONDS.labels(controller.name)

    async def run(self) -> None:
        """Work until `stop`; a step that has begun is finished."""
        await asyncio.gather(*(self._work() for _ in range(self._workers)))

    def stop(self) -> None:
        self._keys.close()

    async def _work(self) -> None:
        while True:
            try:
                key = await self._keys.take()
            except Closed:
                return
            started = time.perf_counter()
            result = await self._step(key)
            self._seconds.observe(time.perf_counter() - started)
            RECONCILES.labels(self._controller.name, result).inc()

    async def _step(self, key: K) -> str:
        try:
            step = await self._controller.reconcile(key)
            result = await self._writer.write(step.plan)
            again = step.after(result) if step.after else None
        except KubeError as error:
            log.warning("%s %s: %s: %s", self._controller.name, key, type(error).__name__, error)
            return self._failed(key)
        except Exception:
            log.exception("%s %s failed", self._controller.name, key)
            return self._failed(key)
        if result.unmet and not step.settles_failures:
            self._report(key, result)
            return self._failed(key)
        if step.only_waits:
            self._keys.rest(key)
        else:
            self._keys.done(key)
        for seconds in (again, step.again_seconds):
            if seconds is not None:
                self._keys.add_after(key, seconds)
        return "done"

    def _failed(self, key: K) -> str:
        self._keys.failed(key)
        return "failed"

    def _report(self, key: K, result: Result) -> None:
        for one in result.unmet:
            level = logging.DEBUG if one.outcome in EXPECTED else logging.WARNING
            change = type(one.change).__name__
            log.log(level, "%s %s: %s %s: %s", self._controller.name, key, change, one.outcome, one.message)
