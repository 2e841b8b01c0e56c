from tests.fakes.small_cluster import SmallCluster, pod, run


def test_events_are_forgotten_after_an_hour() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(pod("web"))
        await cluster.advance(3000)
        assert "Scheduled" in cluster.reasons()
        await cluster.advance(700)
        assert cluster.reasons() == []
        await cluster.create(pod("later"))
        await cluster.advance(3700)
        assert cluster.reasons() == []

    run(scenario, nodes="1x0gpu")
