"""What stands around the pods of a set: Services, claims that are kept or not, disruption budgets."""

from collections.abc import Iterator, Mapping

import msgspec

from quorate.api.core import SERVICE
from quorate.api.meta import Json, Object
from quorate.api.policy import POD_DISRUPTION_BUDGET
from quorate.api.storage import PERSISTENT_VOLUME_CLAIM
from quorate.plan import Change, Delete, Patch
from quorate.workloads.lws.blueprint import Blueprint
from quorate.workloads.lws.budget import budget_of
from quorate.workloads.lws.claims import disposable, owners
from quorate.workloads.lws.services import service_of, services_of
from quorate.workloads.lws.view import View, create, ref


def around(view: View, made: Mapping[int, Blueprint]) -> Iterator[Change]:
    """`made` are the groups that exist after this pass, each with what it is made from."""
    yield from _services(view, made)
    yield from _claims(view, made)
    yield from _budgets(view, made)


def _services(view: View, made: Mapping[int, Blueprint]) -> Iterator[Change]:
    newest = view.history.newest
    needed = services_of((blueprint, index) for index, blueprint in made.items())
    if not newest.has_own_subdomains:
        needed[newest.name] = service_of(newest, 0)
    present = {found.metadata.name: found for found in view.children.services}
    for name, body in needed.items():
        if name not in present:
            yield create(SERVICE, body)
    for name, found in present.items():
        if name not in needed and _is_own(view, found):
            yield Delete(ref(SERVICE, found))


def _claims(view: View, made: Mapping[int, Blueprint]) -> Iterator[Change]:
    newest = view.history.newest
    bodies: list[Json] = [msgspec.to_builtins(found) for found in view.children.claims]
    named = {found.metadata.name: found for found in view.children.claims}
    for body in disposable(newest, bodies, {*made, *view.line.wanted}):
        found = named.pop(body["metadata"]["name"])
        if found.metadata.deletion_timestamp is None:
            yield Delete(ref(PERSISTENT_VOLUME_CLAIM, found))
    for found in named.values():
        held = msgspec.to_builtins(found.metadata.owner_references or [])
        wanted = owners(newest, held)
        if wanted != held:
            target = ref(PERSISTENT_VOLUME_CLAIM, found)
            yield Patch(target, {"metadata": {"ownerReferences": wanted or None}})


def _budgets(view: View, made: Mapping[int, Blueprint]) -> Iterator[Change]:
    needed = {index: body for index, blueprint in made.items() if (body := budget_of(blueprint, index))}
    wanted = {body["metadata"]["name"]: body for body in needed.values()}
    present = {found.metadata.name: found for found in view.children.budgets if _is_own(view, found)}
    for name, body in wanted.items():
        found = present.pop(name, None)
        if found is None:
            yield create(POD_DISRUPTION_BUDGET, body)
        elif found.spec.min_available != body["spec"]["minAvailable"]:
            spec = {"minAvailable": body["spec"]["minAvailable"]}
            yield Patch(ref(POD_DISRUPTION_BUDGET, found), {"spec": spec})
    for found in present.values():
        yield Delete(ref(POD_DISRUPTION_BUDGET, found))


def _is_own(view: View, found: Object) -> bool:
    owner = found.metadata.controller
    return owner is not None and owner.uid == view.item.metadata.uid
