"""What stands around the pods of LeaderWorkerSets: claims, Services, budgets, and one gang of the whole set."""

from typing import Any

from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl
from tests.system.lws import PREFIX, available, names, patched, pods, status, template, uids, web

Json = dict[str, Any]

DATA: Json = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def claims(shell: Kubectl) -> dict[str, str]:
    """Claims of the set by name, with their uids."""
    found = shell.get("pvc", "-l", f"{PREFIX}name=web")["items"]
    return {one["metadata"]["name"]: one["metadata"]["uid"] for one in found}


def with_claims(scaled: str, deleted: str) -> str:
    policy = {"whenScaled": scaled, "whenDeleted": deleted}
    return web(size=2, volumeClaimTemplates=[DATA], persistentVolumeClaimRetentionPolicy=policy)


def test_each_pod_finds_its_claim_again_and_claims_outlive_groups(shell: Kubectl) -> None:
    shell.apply(with_claims("Retain", "Retain"))
    available(shell)
    before = claims(shell)
    assert list(before) == ["data-web-0", "data-web-0-1", "data-web-1", "data-web-1-1"]
    volumes = {pod["metadata"]["name"]: pod["spec"]["volumes"] for pod in pods(shell)}
    assert volumes["web-1-1"][0] == {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-1-1"}}
    old = uids(shell)
    shell("delete", "pod", "web-0", "--wait=false")
    eventually(lambda: not {old["web-0"], old["web-0-1"]} & set(uids(shell).values()))
    shell("scale", "lws/web", "--replicas=1")
    eventually(lambda: names(shell), until=lambda seen: seen == ["web-0", "web-0-1"])
    available(shell)
    assert claims(shell) == before
    shell("delete", "lws", "web")
    eventually(lambda: names(shell), until=lambda seen: not seen)
    assert claims(shell) == before


def test_claims_go_with_their_group_and_with_their_set_where_that_is_asked_for(shell: Kubectl) -> None:
    shell.apply(with_claims("Delete", "Delete"))
    available(shell)
    shell("scale", "lws/web", "--replicas=1")
    eventually(lambda: list(claims(shell)), until=lambda seen: seen == ["data-web-0", "data-web-0-1"])
    shell("delete", "lws", "web")
    eventually(lambda: claims(shell), until=lambda seen: not seen)


def test_each_group_has_a_service_and_addresses_of_its_own_where_that_is_asked_for(shell: Kubectl) -> None:
    shell.apply(web(spec={"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}))
    available(shell)
    services = {one["metadata"]["name"]: one["spec"] for one in shell.get("services")["items"]}
    assert {name for name in services if name.startswith("web")} == {"web-0", "web-1"}
    assert services["web-1"]["selector"] == {f"{PREFIX}name": "web", f"{PREFIX}group-index": "1"}
    worker = shell.get("pod", "web-1-1")["spec"]
    address = next(one for one in worker["containers"][0]["env"] if one["name"] == "LWS_LEADER_ADDRESS")
    assert (worker["subdomain"], address["value"]) == ("web-1", f"web-1.web-1.{shell.namespace}")
    shell("scale", "lws/web", "--replicas=1")
    eventually(lambda: "web-1" not in str(shell.get("services")))
    patched(shell, {"spec": {"networkConfig": {"subdomainPolicy": "Shared"}}})
    available(shell)
    assert shell.get("pod", "web-0-1")["spec"]["subdomain"] == "web"


def test_a_drain_waits_for_groups_that_are_to_stay_whole(shell: Kubectl) -> None:
    shell.apply(web(annotations={"quorate.dev/disruption-budget": "0"}))
    available(shell)
    budgets = {one["metadata"]["name"]: one["spec"]["minAvailable"] for one in shell.get("pdb")["items"]}
    assert budgets == {"web-0": 2, "web-1": 2}
    node = shell.get("pod", "web-0-1")["spec"]["nodeName"]
    before = uids(shell)
    try:
        drained = shell.run(
            "drain",
            node,
            "--timeout=3s",
            "--force",
            "--pod-selector",
            f"{PREFIX}name=web",
            "--ignore-daemonsets",
        )
        assert drained.code != 0
        assert "disruption budget" in str(drained)
        assert uids(shell) == before
        shell("scale", "lws/web", "--replicas=0")
        eventually(lambda: not shell.get("pdb")["items"])
    finally:
        shell("uncordon", node)


def test_a_set_that_is_one_gang_starts_with_as_many_groups_as_it_needs(shell: Kubectl) -> None:
    needed = {"quorate.dev/min-groups": "2"}
    node = shell.get("nodes")["items"][0]["metadata"]["name"]
    shell("label", "node", node, f"pool={shell.namespace}")
    try:
        worker = template(gpus=4, nodeSelector={"pool": shell.namespace})  # the node has room for one group
        shell.apply(web(replicas=3, worker=worker, annotations=needed))
        eventually(lambda: len(names(shell)), until=lambda seen: seen == 6)
        (gang,) = eventually(lambda: shell.get("podgroups.scheduling.run.ai")["items"])
        assert gang["spec"]["minSubGroup"] == 2
        eventually(lambda: "Unschedulable" in str(shell.get("podgroups.scheduling.run.ai")))
        assert not any(pod["spec"].get("nodeName") for pod in pods(shell))
        other = shell.get("nodes")["items"][1]["metadata"]["name"]
        shell("label", "node", other, f"pool={shell.namespace}")
        eventually(lambda: status(shell).get("readyReplicas"), until=lambda seen: seen == 2)
    finally:
        shell("label", "nodes", "--all", "pool-")
