"""The fake storage provisioner for a real API server: makes the volumes that claims of its class ask for.

kube-controller-manager binds them, as it does those of any external provisioner.
"""

import asyncio
import contextlib
import sys

import msgspec

from quorate.embedded.builtins.bootstrap import PROVISIONER, STORAGE_CLASS
from quorate.kube.client import Client
from quorate.kube.errors import AlreadyExists, KubeError
from quorate.kube.resources import Scope, apply_request, create_request, pages
from quorate.plan import Apply, Create, Ref
from quorate.workloads.builtin import binding, kinds

LOOK_SECONDS = 0.2


async def provision(client: Client) -> None:
    """Runs until cancelled."""
    target = Ref(kind=kinds.STORAGE_CLASS, name=STORAGE_CLASS["metadata"]["name"])
    await client.send(apply_request(Apply(target=target, body=STORAGE_CLASS)))
    while True:
        try:
            async for page in pages(client, Scope(kind=kinds.CLAIM)):
                for item in page.items or ():
                    await _look(client, item)
        except KubeError as error:
            print(f"provisioner: {error}", file=sys.stderr, flush=True)
        await asyncio.sleep(LOOK_SECONDS)


async def _look(client: Client, item: msgspec.Raw) -> None:
    claim = msgspec.json.decode(item)
    if claim["spec"].get("storageClassName") != STORAGE_CLASS["metadata"]["name"]:
        return
    for change in binding.claim(claim, STORAGE_CLASS, PROVISIONER, (), None).changes:
        if isinstance(change, Create) and change.target.kind == kinds.VOLUME:
            with contextlib.suppress(AlreadyExists):  # the claim is about to be bound to it
                await client.send(create_request(change))
