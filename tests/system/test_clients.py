"""Clients other than kubectl: the official Python client and kr8s, unmodified."""

import importlib
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl

# Both are only partly typed; what they return is looked at as a user would, by attribute.
kubernetes: Any = importlib.import_module("kubernetes")
watch: Any = importlib.import_module("kubernetes.watch")
kr8s: Any = importlib.import_module("kr8s")

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "one"},
    "spec": {"schedulerName": "quorate", "containers": [{"name": "app", "image": "example/app:1"}]},
}


def official(shell: Kubectl) -> Any:
    return kubernetes.client.CoreV1Api(kubernetes.config.new_client_from_config(str(shell.kubeconfig)))


@contextmanager
def typed_bodies(core: Any) -> Iterator[None]:
    """Version 37 of the client sends no content type on create, which API servers refuse with 415."""
    core.api_client.set_default_header("Content-Type", "application/json")
    yield
    del core.api_client.default_headers["Content-Type"]


def test_official_client_creates_lists_patches_and_deletes(shell: Kubectl) -> None:
    core = official(shell)
    with typed_bodies(core):
        core.create_namespaced_pod(shell.namespace, POD)
    names = [pod.metadata.name for pod in core.list_namespaced_pod(shell.namespace).items]
    assert names == ["one"]
    core.patch_namespaced_pod("one", shell.namespace, {"metadata": {"labels": {"tier": "gold"}}})
    assert core.read_namespaced_pod("one", shell.namespace).metadata.labels["tier"] == "gold"
    core.delete_namespaced_pod("one", shell.namespace, grace_period_seconds=0)
    assert core.list_namespaced_pod(shell.namespace).items == []


def test_official_client_watches_from_a_list(shell: Kubectl) -> None:
    core = official(shell)
    version = core.list_namespaced_pod(shell.namespace).metadata.resource_version
    with typed_bodies(core):
        core.create_namespaced_pod(shell.namespace, POD)
    stream = watch.Watch().stream(
        core.list_namespaced_pod, shell.namespace, resource_version=version, timeout_seconds=20
    )
    event = next(iter(stream))
    assert (event["type"], event["object"].metadata.name) == ("ADDED", "one")


def test_official_client_creates_scales_and_selects_custom_objects(shell: Kubectl) -> None:
    core = official(shell)
    custom = kubernetes.client.CustomObjectsApi(core.api_client)
    where = ("leaderworkerset.x-k8s.io", "v1", shell.namespace, "leaderworkersets")
    body = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "web", "labels": {"tier": "gold"}},
        "spec": {"replicas": 0, "leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": POD["spec"]}}},
    }
    with typed_bodies(core):
        custom.create_namespaced_custom_object(*where, body)
    custom.patch_namespaced_custom_object_scale(*where, "web", {"spec": {"replicas": 1}})
    (found,) = custom.list_namespaced_custom_object(*where, label_selector="tier=gold")["items"]
    assert found["spec"]["replicas"] == 1
    assert custom.list_namespaced_custom_object(*where, label_selector="tier=silver")["items"] == []

    def names() -> list[str]:
        return [pod.metadata.name for pod in core.list_namespaced_pod(shell.namespace).items]

    assert eventually(names, until=lambda seen: len(seen) == 2) == ["web-0", "web-0-1"]


def test_kr8s_scales_patches_waits_for_and_deletes_a_deployment(shell: Kubectl) -> None:
    tour = [sys.executable, str(Path(__file__).with_name("kr8s_tour.py"))]
    done = subprocess.run(
        [*tour, str(shell.kubeconfig), shell.namespace],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_kr8s_sees_a_pod_become_ready(shell: Kubectl) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # kr8s warns of every server newer than itself
        api = kr8s.api(kubeconfig=str(shell.kubeconfig), namespace=shell.namespace)
        kr8s.objects.Pod(POD | {"metadata": {"name": "one", "namespace": shell.namespace}}, api=api).create()

        def phases() -> list[str]:
            return [pod.status.phase for pod in api.get("pods", namespace=shell.namespace)]

        assert eventually(phases, until=lambda seen: seen == ["Running"]) == ["Running"]


def test_eight_watchers_see_every_event(shell: Kubectl) -> None:
    core = official(shell)
    version = core.list_namespaced_config_map(shell.namespace).metadata.resource_version
    seen: list[list[str]] = [[] for _ in range(8)]

    def follow(names: list[str]) -> None:
        own = official(shell)
        stream = watch.Watch().stream(
            own.list_namespaced_config_map, shell.namespace, resource_version=version, timeout_seconds=20
        )
        for event in stream:
            if event["object"].metadata.name.startswith("c-"):
                names.append(event["object"].metadata.name)
            if len(names) == 50:
                return

    watchers = [threading.Thread(target=follow, args=(names,)) for names in seen]
    for watcher in watchers:
        watcher.start()
    with typed_bodies(core):
        for number in range(50):
            core.create_namespaced_config_map(shell.namespace, {"metadata": {"name": f"c-{number}"}})
    for watcher in watchers:
        watcher.join()
    assert seen == [[f"c-{number}" for number in range(50)]] * 8
