"""A cluster in one process, as it is told to be."""

import asyncio

from quorate.embedded.cluster import Settings, running


def test_fake_pods_take_as_long_to_start_as_the_cluster_is_told() -> None:
    async def check() -> None:
        async with running(Settings(start_seconds=7.0)) as cluster:
            assert cluster.builtins.kubelets._start_seconds == 7.0  # noqa: SLF001 - nobody waits for seven seconds

    asyncio.run(check())
