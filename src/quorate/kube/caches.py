"""Every cache of this process, one per scope, however many controllers read it.

Controllers ask for what they need while they are built; `run` then keeps all of it equal to the server.
"""

import asyncio
from typing import Any

from quorate.kube.cache import Cache, T
from quorate.kube.client import Client
from quorate.kube.resources import Scope
from quorate.kube.watch import Reflector


class Caches:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._found: dict[Scope, tuple[Cache[Any], Reflector[Any]]] = {}
        self._group: asyncio.TaskGroup | None = None

    def of(self, scope: Scope, shape: type[T], *, optional: bool = False) -> Cache[T]:
        """The cache of this scope; one that is asked for while running starts at once."""
        if scope not in self._found:
            cache: Cache[T] = Cache(scope)
            reflector = Reflector(self._client, cache, shape, optional=optional)
            self._found[scope] = cache, reflector
            if self._group is not None:
                self._group.create_task(reflector.run())
        return self._found[scope][0]

    async def run(self) -> None:
        """Runs until cancelled."""
        async with asyncio.TaskGroup() as self._group:
            for _, reflector in self._found.values():
                self._group.create_task(reflector.run())
            await asyncio.Event().wait()

    async def synced(self) -> None:
        await asyncio.gather(*(cache.synced.wait() for cache, _ in list(self._found.values())))

    def problems(self) -> list[str]:
        """What keeps the declared caches from being up to date, for people and for /readyz."""
        found = []
        for scope, (cache, _) in self._found.items():
            if scope.metadata_only:
                continue  # owners of kinds nobody declared: reported pod by pod
            if cache.problem:
                found.append(f"{scope}: {cache.problem}")
            elif not cache.synced.is_set():
                found.append(f"{scope}: not listed yet")
        return found
