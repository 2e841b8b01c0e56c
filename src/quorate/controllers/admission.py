"""Admission as a part of the process: reviews answered from the caches, over TLS that the API server trusts.

`Judge` asks the pure rules, `Newcomers` the grouper's; `Serving` runs the webhook server; `Trust` keeps our CA in
the webhook configurations, so that nobody has to install certificates.
"""

import asyncio
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Generic, NamedTuple

from quorate.admission.defaulting import patch
from quorate.admission.judges import judge_deletion, judge_of
from quorate.admission.surroundings import Surroundings
from quorate.api.composite import COMPOSITE_POD_GROUP, CompositePodGroup
from quorate.api.core import POD, PRIORITY_CLASS, PriorityClass
from quorate.api.meta import Json, Kind, Object
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.api.queue import QUEUE, Queue
from quorate.api.rbg import SCALING_ADAPTER
from quorate.api.rbgpolicy import ScalingAdapter
from quorate.api.topology import TOPOLOGY, Topology
from quorate.api.webhooks import MUTATE, NAME, VALIDATE
from quorate.controllers.newcomers import Newcomers
from quorate.controllers.runtime import Step
from quorate.kube.cache import Cache, T
from quorate.kube.caches import Caches
from quorate.kube.certificates import Files, ensure, utc_now
from quorate.kube.client import Client
from quorate.kube.errors import NotFound
from quorate.kube.keys import Keys
from quorate.kube.owners import READ_ANY
from quorate.kube.resources import Scope, get
from quorate.kube.webhook import AdmissionRequest, FieldError, Verdict, WebhookServer, trust
from quorate.plan import Ref
from quorate.rules.validity import Cause, Fault, Findings

REGISTRATION = "admissionregistration.k8s.io"
CONFIGURATIONS = (
    Kind(
        REGISTRATION,
        "v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        namespaced=False,
    ),
    Kind(
        REGISTRATION, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", namespaced=False
    ),
)
RENEWAL_SECONDS = 3600.0
REASONS = {
    Cause.MINIMUM: "FieldValueForbidden",
    Cause.LIVE: "FieldValueForbidden",
    Cause.REFERENCE: "FieldValueNotFound",
}


class View(Mapping[str, T], Generic[T]):
    """A cache by `namespace/name`; it may be read from another thread than the one that fills it."""

    def __init__(self, cache: Cache[T]) -> None:
        self._cache = cache

    def __getitem__(self, key: str) -> T:
        namespace, _, name = key.rpartition("/")
        found = self._cache.get(namespace, name)
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter([one.metadata.key for one in list(self._cache)])

    def __len__(self) -> int:
        return len(self._cache)


class Judge:
    """Whether an object may be written; a kind without rules may."""

    def __init__(self, caches: Caches) -> None:
        self._around = Surroundings(
            queues=View(caches.of(Scope(kind=QUEUE), Queue)),
            topologies=View(caches.of(Scope(kind=TOPOLOGY), Topology, optional=True)),
            priority_classes=View(caches.of(Scope(kind=PRIORITY_CLASS), PriorityClass)),
            podgroups=View(caches.of(Scope(kind=POD_GROUP), PodGroup)),
            composites=View(caches.of(Scope(kind=COMPOSITE_POD_GROUP), CompositePodGroup, optional=True)),
            adapters=View(caches.of(Scope(kind=SCALING_ADAPTER), ScalingAdapter, optional=True)),
        )

    def __call__(self, request: AdmissionRequest) -> Verdict:
        findings = self._findings(request)
        errors = tuple(FieldError(one.field, one.message, reason_of(one)) for one in findings.errors)
        return Verdict(errors, tuple(str(one) for one in findings.warnings))

    def _findings(self, request: AdmissionRequest) -> Findings:
        asked = request.kind
        if request.operation == "DELETE":
            kind = Kind(
                asked.group, asked.version, asked.kind, request.resource.resource, bool(request.namespace)
            )
            return judge_deletion(kind, request.old_object or {}, self._around)
        judge = judge_of(f"{asked.group}/{asked.version}" if asked.group else asked.version, asked.kind)
        if judge is None or request.object is None or request.sub_resource or is_leaving(request.object):
            return Findings()
        return judge(request.object, request.old_object, self._around)


def is_leaving(found: Json) -> bool:
    """Who is being deleted only sheds finalizers: nothing about it may hold that up."""
    metadata = found.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("deletionTimestamp"))


def mutate(judge: Judge, newcomers: Newcomers, request: AdmissionRequest) -> Verdict:
    """Pods are labelled as members of their gang, objects of our own kinds what they leave open."""
    if (request.kind.group, request.kind.kind) == (POD.group, POD.kind):
        return Verdict(patch=newcomers.patch(request))
    return complete(judge, request)


def complete(judge: Judge, request: AdmissionRequest) -> Verdict:
    """Fill in what an object leaves open.

    What validation would refuse is refused here already: between the two the API server asks the rules of the
    schema, which cannot name the group that is at fault. Warnings are left to validation, so that they come once.
    """
    if errors := judge(request).errors:
        return Verdict(errors)
    asked = request.kind
    kind = Kind(asked.group, asked.version, asked.kind, request.resource.resource, bool(request.namespace))
    return Verdict(patch=patch(kind, request.object or {}))


def reason_of(fault: Fault) -> str:
    """The reason the API server itself would give."""
    return REASONS.get(fault.cause, "FieldValueInvalid")


class Webhook(NamedTuple):
    """Where to serve, and which DNS names the certificate must hold (the service's, as the API server says it)."""

    folder: Files
    names: tuple[str, ...]
    host: str
    port: int
    configuration: str = NAME


class Serving:
    """The server until `stop`; its certificate is made and renewed here."""

    def __init__(self, judge: Judge, newcomers: Newcomers, webhook: Webhook, ca_changed: "Trust") -> None:
        self._server = WebhookServer(
            {VALIDATE: judge, MUTATE: partial(mutate, judge, newcomers)}, webhook.folder
        )
        self._webhook = webhook
        self._trust = ca_changed
        self._stopped = asyncio.Event()

    async def run(self) -> None:
        ensure(self._webhook.folder, self._webhook.names, utc_now())
        serving = asyncio.create_task(self._server.run(self._webhook.host, self._webhook.port))
        renewing = asyncio.create_task(self._renew())
        stopped = asyncio.create_task(self._stopped.wait())
        try:
            await asyncio.wait({serving, renewing, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()
        finally:
            for task in (serving, renewing, stopped):
                task.cancel()
            await asyncio.gather(serving, renewing, stopped, return_exceptions=True)

    def stop(self) -> None:
        self._stopped.set()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEWAL_SECONDS)
            if ensure(self._webhook.folder, self._webhook.names, utc_now()):
                self._trust.all_changed()


class Trust:
    """One key per webhook configuration of ours: its caBundle is the CA that signed our certificate."""

    name = "trust"

    def __init__(self, client: Client, caches: Caches, webhook: Webhook) -> None:
        self.keys: Keys[Kind] = Keys(self.name)
        self._client = client
        self._webhook = webhook
        for kind in CONFIGURATIONS:
            scope = Scope(kind=kind, fields=f"metadata.name={webhook.configuration}", metadata_only=True)
            caches.of(scope, Object).subscribe(partial(self._changed, kind))

    async def reconcile(self, key: Kind) -> Step:
        target = Ref(kind=key, name=self._webhook.configuration)
        try:
            found = await get(self._client, target, READ_ANY)
        except NotFound:
            return Step()
        return Step(trust(found, target, self._webhook.folder.ca.read_bytes()))

    def all_changed(self) -> None:
        for kind in CONFIGURATIONS:
            self.keys.add(kind)

    def _changed(self, kind: Kind, _: Object | None, new: Object | None) -> None:
        if new is not None:
            self.keys.add(kind)
