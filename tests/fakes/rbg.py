"""RoleBasedGroups as text for system tests, and what the cluster shows of them."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.kubectl import Kubectl

GROUPS = "rolebasedgroups.workloads.instai.io"
ROLE = "rbg.workloads.x-k8s.io/role-name"
INDEX = "leaderworkerset.sigs.k8s.io/group-index"
WHOLE_GANG = "rbg.workloads.x-k8s.io/group-gang-scheduling"


@dataclass(frozen=True)
class Role:
    """Pods of one GPU each that start at once, on the nodes of a pool."""

    name: str
    replicas: int
    size: int = 1
    pool: str = ""
    needs: str = ""

    def __str__(self) -> str:
        pod = (
            f"{{metadata: {{annotations: {{quorate.dev/fake-start-seconds: '0.01'}}}}, spec: {self._spec()}}}"
        )
        pattern = (
            f"template: {pod}"
            if self.size == 1
            else f"leaderWorkerPattern: {{size: {self.size}, template: {pod}}}"
        )
        needs = f"dependencies: [{self.needs}], " if self.needs else ""
        return f"{{name: {self.name}, replicas: {self.replicas}, {needs}{pattern}}}"

    def _spec(self) -> str:
        selector = f"nodeSelector: {{pool: {self.pool}}}, " if self.pool else ""
        container = "{name: main, image: 'example/server:1', resources: {limits: {nvidia.com/gpu: 1}}}"
        return f"{{{selector}terminationGracePeriodSeconds: 0, containers: [{container}]}}"


def group(name: str, roles: list[Role], *sizes: str, annotation: str = "", **placement: str) -> str:
    """Each of `sizes` is a coordination; more fields of its placement come by name."""
    more = "".join(f", {key}: {value}" for key, value in placement.items())
    strategies = [f"{{strategy: {{segmentPlacement: {{segmentSize: {size}{more}}}}}}}" for size in sizes]
    annotations = f", annotations: {{{annotation}: 'true'}}" if annotation else ""
    return f"""
apiVersion: workloads.instai.io/v1alpha1
kind: RoleBasedGroup
metadata: {{name: {name}{annotations}}}
spec:
  roles: [{", ".join(map(str, roles))}]
  coordinationRequirements: [{", ".join(strategies)}]
"""


@dataclass(frozen=True)
class Seen:
    """One look at a group and its pods."""

    group: dict[str, Any]
    pods: list[dict[str, Any]]

    @property
    def conditions(self) -> dict[str, tuple[str, str, str]]:
        found = self.group.get("status", {}).get("conditions", [])
        return {one["type"]: (one["status"], one["reason"], one["message"]) for one in found}

    @property
    def running(self) -> Counter[str]:
        """Pods that run, by role."""
        return Counter(_label(pod, ROLE) for pod in self.pods if pod["status"]["phase"] == "Running")

    @property
    def unready_segments(self) -> list[int]:
        return [one["index"] for one in self.group["status"].get("segments", ()) if not one.get("ready")]

    def of_segment(self, segment: int, **sizes: int) -> list[dict[str, Any]]:
        """Pods of the instances of one segment, counted from 1."""
        return [
            pod
            for pod in self.pods
            for name, size in sizes.items()
            if _label(pod, ROLE) == name and int(_label(pod, INDEX)) // size == segment - 1
        ]


def look(shell: Kubectl, name: str) -> Seen:
    pods = shell.get("pods", "-l", f"rbg.workloads.x-k8s.io/group-name={name}")["items"]
    return Seen(shell.get(GROUPS, name), pods)


def is_bound(pod: dict[str, Any]) -> bool:
    return bool(pod["spec"].get("nodeName"))


def _label(pod: dict[str, Any], name: str) -> str:
    return str(pod["metadata"]["labels"][name])
