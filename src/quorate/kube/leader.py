"""Leader election on a `coordination.k8s.io` Lease: at most one process of a kind decides at a time.

Clocks of different machines are never compared: a lease counts as expired when *we* have seen no renewal
for its duration. A leader that could not renew within `renew_seconds` stops before others may start.
Writes go through the one writer; the resourceVersion precondition decides races.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from quorate.api.core import Lease, LeaseSpec
from quorate.api.meta import Json
from quorate.kube import metrics
from quorate.kube.apply import Writer
from quorate.kube.client import Client
from quorate.kube.errors import KubeError, NotFound
from quorate.kube.resources import Reader, get
from quorate.plan import Create, Patch, Plan, Ref

log = logging.getLogger(__name__)


READ_LEASE = Reader(Lease)


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """client-go's defaults; lease > renew > retry must hold."""

    lease_seconds: float = 15.0
    renew_seconds: float = 10.0
    retry_seconds: float = 2.0

    def __post_init__(self) -> None:
        if not self.lease_seconds > self.renew_seconds > self.retry_seconds > 0:
            raise ValueError(f"leader election needs lease > renew > retry > 0 seconds, not {self}")


class Election:
    """One candidate for one lease."""

    def __init__(self, client: Client, lease: Ref, identity: str, terms: Terms | None = None) -> None:
        self._client = client
        self._writer = Writer(client, "quorate-leader")
        self._ref = lease
        self._identity = identity
        self._terms = terms or Terms()
        self._seen: tuple[str | None, str] = ("", "")
        self._seen_at = 0.0
        self._gauge = metrics.LEADER.labels(lease.name)

    async def lead(self, work: Callable[[], Awaitable[None]]) -> None:
        """Wait for the lease, then run `work` while it is held; returns when either ends."""
        await self._acquire()
        log.info("%s leads %s", self._identity, self._ref)
        self._gauge.set(1)
        working = asyncio.ensure_future(work())
        renewing = asyncio.ensure_future(self._renew_until_lost())
        try:
            done, _ = await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            self._gauge.set(0)
            working.cancel()
            renewing.cancel()
            await asyncio.gather(working, renewing, return_exceptions=True)
            await self._release()

    async def _acquire(self) -> None:
        while True:
            if await self._try():
                return
            await asyncio.sleep(self._terms.retry_seconds)

    async def _renew_until_lost(self) -> None:
        deadline = time.monotonic() + self._terms.renew_seconds
        while time.monotonic() < deadline:
            await asyncio.sleep(self._terms.retry_seconds)
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                    if await self._try():
                        deadline = time.monotonic() + self._terms.renew_seconds
        log.warning("%s lost %s: not renewed in %.0f s", self._identity, self._ref, self._terms.renew_seconds)

    async def _try(self) -> bool:
        """Take or renew the lease if that is allowed now."""
        try:
            lease = await get(self._client, self._ref, READ_LEASE)
        except NotFound:
            return await self._write(Create(self._ref, {"spec": self._spec(None)}))
        except KubeError as error:
            log.warning("cannot read %s: %s", self._ref, error)
            return False
        if not self._may_take(lease):
            return False
        held = msgspec.structs.replace(self._ref, resource_version=lease.metadata.resource_version)
        return await self._write(Patch(held, {"spec": self._spec(lease.spec)}))

    def _may_take(self, lease: Lease) -> bool:
        """Ours, released, or not renewed for its whole duration as we observed it."""
        spec = lease.spec
        observed = (spec.holder_identity, lease.metadata.resource_version)
        if observed != self._seen:
            self._seen, self._seen_at = observed, time.monotonic()
        if spec.holder_identity in {None, "", self._identity}:
            return True
        return time.monotonic() - self._seen_at > (spec.lease_duration_seconds or self._terms.lease_seconds)

    def _spec(self, old: LeaseSpec | None) -> Json:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        renewal = old is not None and old.holder_identity == self._identity
        transitions = (old.lease_transitions or 0) if old else 0
        fields: Json = {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": max(1, round(self._terms.lease_seconds)),
            "renewTime": now,
        }
        if not renewal:
            fields |= {"acquireTime": now, "leaseTransitions": transitions + (1 if old else 0)}
        return fields

    async def _write(self, change: Create | Patch) -> bool:
        result = await self._writer.write(Plan(changes=(change,)))
        for unmet in result.unmet:
            log.debug("%s: %s: %s", self._ref, unmet.outcome, unmet.message)
        return result.is_done

    async def _release(self) -> None:
        """Let the next candidate start at once; harmless if the lease is not ours any more."""
        try:
            lease = await get(self._client, self._ref, READ_LEASE)
        except KubeError as error:
            log.warning("cannot release %s: %s", self._ref, error)
            return
        if lease.spec.holder_identity == self._identity:
            held = msgspec.structs.replace(self._ref, resource_version=lease.metadata.resource_version)
            await self._write(Patch(held, {"spec": {"holderIdentity": "", "leaseDurationSeconds": 1}}))
