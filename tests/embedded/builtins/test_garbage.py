from typing import Any

from quorate.workloads.builtin import kinds
from tests.fakes.small_cluster import SmallCluster, run


def test_dependents_go_in_the_background() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        owner = await cluster.create(_map("owner"))
        await cluster.create(_map("child", owner))
        await cluster.create(_map("grandchild", cluster.get(kinds.CONFIG_MAP, "child")))
        await cluster.delete(kinds.CONFIG_MAP, "owner")
        assert _names(cluster) == []

    run(scenario)


def test_foreground_owner_waits_for_dependents_that_block() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        owner = await cluster.create(_map("owner"))
        child = _map("child", owner, block=True)
        child["metadata"]["finalizers"] = ["quorate.dev/hold"]
        await cluster.create(child)
        await cluster.delete(kinds.CONFIG_MAP, "owner", propagation="Foreground")
        assert _names(cluster) == ["child", "owner"]
        await cluster.merge(kinds.CONFIG_MAP, "child", {"metadata": {"finalizers": None}})
        assert _names(cluster) == []

    run(scenario)


def test_foreground_reaches_grandchildren_first() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        owner = await cluster.create(_map("owner"))
        middle = await cluster.create(_map("middle", owner, block=True))
        leaf = _map("leaf", middle, block=True)
        leaf["metadata"]["finalizers"] = ["quorate.dev/hold"]
        await cluster.create(leaf)
        await cluster.delete(kinds.CONFIG_MAP, "owner", propagation="Foreground")
        assert _names(cluster) == ["leaf", "middle", "owner"]
        await cluster.merge(kinds.CONFIG_MAP, "leaf", {"metadata": {"finalizers": None}})
        assert _names(cluster) == []

    run(scenario)


def test_orphans_stay_without_their_owner() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        owner = await cluster.create(_map("owner"))
        await cluster.create(_map("child", owner))
        await cluster.delete(kinds.CONFIG_MAP, "owner", propagation="Orphan")
        assert _names(cluster) == ["child"]
        assert "ownerReferences" not in cluster.get(kinds.CONFIG_MAP, "child")["metadata"]

    run(scenario)


def test_one_living_owner_is_enough() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        first, second = await cluster.create(_map("first")), await cluster.create(_map("second"))
        child = _map("child", first)
        child["metadata"]["ownerReferences"] += _map("x", second)["metadata"]["ownerReferences"]
        await cluster.create(child)
        await cluster.delete(kinds.CONFIG_MAP, "first")
        (left,) = cluster.get(kinds.CONFIG_MAP, "child")["metadata"]["ownerReferences"]
        assert left["name"] == "second"

    run(scenario)


def test_an_owner_of_another_uid_is_absent() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        owner = await cluster.create(_map("owner"))
        stale = {**owner, "metadata": {**owner["metadata"], "uid": "00000000-0000-0000-0000-000000000000"}}
        await cluster.create(_map("child", stale))
        assert _names(cluster) == ["owner"]

    run(scenario)


def test_an_owner_of_an_unknown_kind_is_not_judged() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        child = _map("child")
        reference = {"apiVersion": "unknown.example/v1", "kind": "Thing", "name": "x", "uid": "1"}
        child["metadata"]["ownerReferences"] = [reference]
        await cluster.create(child)
        assert _names(cluster) == ["child"]

    run(scenario)


def _map(name: str, owner: dict[str, Any] | None = None, *, block: bool = False) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name}
    if owner is not None:
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"]}
        meta["ownerReferences"] = [
            {**reference, "uid": owner["metadata"]["uid"], "blockOwnerDeletion": block}
        ]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}


def _names(cluster: SmallCluster) -> list[str]:
    return [name for name in cluster.names(kinds.CONFIG_MAP) if name != "kube-root-ca.crt"]
