"""Gangs that take from others ask their disruption budgets, and wait for them with a reason."""

from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl
from tests.system.test_gangs import job, phases, podgroup


def on_one_node(shell: Kubectl, manifest: str, priority: str) -> str:
    pinned = f"      nodeSelector: {{budget: {shell.namespace}}}\n      restartPolicy"
    labelled = f"labels: {{priorityClassName: {priority}, job: "
    return manifest.replace("      restartPolicy", pinned).replace("labels: {job: ", labelled)


def uids(shell: Kubectl, selector: str) -> set[str]:
    pods = shell.get("pods", "-l", selector)["items"]
    return {pod["metadata"]["uid"] for pod in pods if "deletionTimestamp" not in pod["metadata"]}


def waits_for(shell: Kubectl, prefix: str) -> str:
    return str(podgroup(shell, prefix).get("status", {}))


def test_a_gang_waits_for_the_budget_of_its_victims_and_goes_on_when_it_allows(shell: Kubectl) -> None:
    node = shell.get("nodes")["items"][-1]["metadata"]["name"]
    shell("label", "node", node, f"budget={shell.namespace}")
    try:
        shell.apply(on_one_node(shell, job("low", pods=2, gpus=4, minimum=1), "train"))
        eventually(lambda: phases(shell, "job=low"), until=lambda seen: seen == ["Running"] * 2)
        shell("create", "poddisruptionbudget", "low", "--selector=job=low", "--min-available=2")
        eventually(lambda: shell.get("pdb", "low")["status"].get("currentHealthy"), until=lambda n: n == 2)
        before = uids(shell, "job=low")
        shell.apply(on_one_node(shell, job("high", pods=1, gpus=4), "build-preemptible"))
        eventually(
            lambda: waits_for(shell, "pg-high-"),
            until=lambda text: f"PodDisruptionBudget {shell.namespace}/low" in text,
        )
        assert uids(shell, "job=low") == before
        shell("delete", "pdb", "low")
        eventually(lambda: phases(shell, "job=high"), until=lambda seen: seen == ["Running"], within=60)
        assert len(before & uids(shell, "job=low")) == 1
    finally:
        shell("label", "node", node, "budget-")
