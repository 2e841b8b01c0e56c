from typing import Any

import pytest

from quorate.api.meta import Json
from quorate.embedded.registry import Resource
from quorate.embedded.tables import table
from quorate.embedded.tables.age import human
from quorate.embedded.tables.paths import find
from quorate.embedded.tables.printer import selector

NOW = 1767225600.0  # 2026-01-01T00:00:00Z
CREATED = "2025-12-31T23:58:55Z"


def served(group: str, kind: str, definition: Json | None = None) -> Resource:
    plural = f"{kind.lower()}s"
    return Resource(group, "v1", kind, plural, kind.lower(), namespaced=True, definition=definition)


def shown(group: str, kind: str, obj: Json, *, definition: Json | None = None) -> dict[str, Any]:
    """The one row of the object by column name."""
    resource = served(group, kind, definition)
    obj = {"metadata": {"name": "x", "creationTimestamp": CREATED}, **obj}
    made = table(resource, [obj], include="None", now=NOW)
    names = [column["name"] for column in made["columnDefinitions"]]
    [row] = made["rows"]
    assert len(names) == len(row["cells"])
    return dict(zip(names, row["cells"], strict=True))


def pod(status: Json, **spec: Any) -> dict[str, Any]:
    return shown(
        "", "Pod", {"spec": {"containers": [{"name": "a"}, {"name": "b"}], **spec}, "status": status}
    )


def running(*, ready: bool = True, restarts: int = 0) -> Json:
    return {"name": "a", "ready": ready, "restartCount": restarts, "state": {"running": {}}}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (65, "65s"),
        (119, "119s"),
        (120, "2m"),
        (310, "5m10s"),
        (3600, "60m"),
        (3 * 3600, "3h"),
        (4 * 3600 + 60, "4h1m"),
        (30 * 3600, "30h"),
        (50 * 3600, "2d2h"),
        (9 * 86400, "9d"),
        (3 * 365 * 86400 + 86400, "3y1d"),
        (9 * 365 * 86400, "9y"),
    ],
)
def test_ages(seconds: float, text: str) -> None:
    assert human(seconds) == text


def test_a_running_pod() -> None:
    cells = pod(
        {"phase": "Running", "containerStatuses": [running(), running()], "podIPs": [{"ip": "10.0.0.1"}]},
        nodeName="n1",
    )
    assert cells == {
        "Name": "x",
        "Ready": "2/2",
        "Status": "Running",
        "Restarts": "0",
        "Age": "65s",
        "IP": "10.0.0.1",
        "Node": "n1",
        "Nominated Node": "<none>",
        "Readiness Gates": "<none>",
    }


def test_a_pending_pod_has_no_place() -> None:
    cells = pod({"phase": "Pending"})
    assert (cells["Status"], cells["Ready"], cells["Node"]) == ("Pending", "0/2", "<none>")


WAITING = {"name": "a", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 3}
COMPLETED = {"name": "a", "state": {"terminated": {"reason": "Completed"}}}
FAILED = {"name": "a", "state": {"terminated": {"exitCode": 3}}}
GATED = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ({"phase": "Pending", "conditions": [GATED]}, "SchedulingGated"),
        ({"phase": "Running", "containerStatuses": [WAITING]}, "CrashLoopBackOff"),
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted"),
        ({"phase": "Succeeded", "containerStatuses": [COMPLETED]}, "Completed"),
        ({"phase": "Failed", "containerStatuses": [FAILED]}, "ExitCode:3"),
        ({"phase": "Pending", "initContainerStatuses": [running()]}, "Init:0/1"),
        ({"phase": "Pending", "initContainerStatuses": [FAILED]}, "Init:ExitCode:3"),
    ],
)
def test_pod_states(status: Json, text: str) -> None:
    assert pod(status, initContainers=[{"name": "i"}])["Status"] == text


def test_a_pod_that_is_being_deleted() -> None:
    obj = {
        "metadata": {"name": "x", "deletionTimestamp": CREATED},
        "spec": {"containers": []},
        "status": {"phase": "Running"},
    }
    assert shown("", "Pod", obj)["Status"] == "Terminating"


def test_restarts_tell_when() -> None:
    ended = {"terminated": {"finishedAt": CREATED}}
    status = {"phase": "Running", "containerStatuses": [{**running(restarts=2), "lastState": ended}]}
    assert pod(status)["Restarts"] == "2 (65s ago)"


def test_sidecars_count_as_containers() -> None:
    sidecar = {"name": "s", "started": True, "ready": True, "state": {"running": {}}}
    status = {"phase": "Running", "initContainerStatuses": [sidecar], "containerStatuses": [running()]}
    cells = pod(status, initContainers=[{"name": "s", "restartPolicy": "Always"}])
    assert cells["Ready"] == "2/3"


def test_a_finished_pod_carries_a_condition() -> None:
    obj = {"metadata": {"name": "x"}, "spec": {}, "status": {"phase": "Succeeded"}}
    [row] = table(served("", "Pod"), [obj], include="Metadata", now=NOW)["rows"]
    assert row["conditions"][0]["type"] == "Completed"
    assert row["object"]["kind"] == "PartialObjectMetadata"
    assert row["object"]["metadata"] == {"name": "x"}


def test_include_object_returns_the_whole() -> None:
    obj = {"metadata": {"name": "x"}, "data": {"a": "b"}}
    resource = served("", "ConfigMap")
    [row] = table(resource, [obj], include="Object", now=NOW)["rows"]
    assert row == {"cells": ["x", 1, "<unknown>"], "object": obj}


def test_nodes() -> None:
    cells = shown(
        "",
        "Node",
        {
            "metadata": {"name": "n", "labels": {"node-role.kubernetes.io/gpu": ""}},
            "spec": {"unschedulable": True},
            "status": {
                "conditions": [{"type": "Ready", "status": "True"}],
                "nodeInfo": {"kubeletVersion": "v1.36.0", "kernelVersion": "6.1", "architecture": "amd64"},
                "addresses": [{"type": "InternalIP", "address": "10.0.0.9"}],
            },
        },
    )
    assert cells["Status"] == "Ready,SchedulingDisabled"
    assert cells["Roles"] == "gpu"
    assert cells["Version"] == "v1.36.0"
    assert cells["Internal-IP"] == "10.0.0.9"
    assert cells["Kernel-Version"] == "6.1 (amd64)"


def test_deployments_and_jobs() -> None:
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    deployment = {
        "spec": {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}, "template": template},
        "status": {"readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 2},
    }
    assert list(shown("apps", "Deployment", deployment).values()) == [
        "x",
        "2/3",
        3,
        2,
        "65s",
        "c",
        "i",
        "a=b",
    ]
    job = {
        "spec": {"completions": 4, "template": template},
        "status": {"succeeded": 1, "startTime": "2025-12-31T23:59:00Z"},
    }
    assert list(shown("batch", "Job", job).values())[:5] == ["x", "Running", "1/4", "60s", "65s"]


def test_services() -> None:
    spec = {"type": "NodePort", "clusterIPs": ["10.96.0.1"], "ports": [{"port": 80, "nodePort": 30001}]}
    cells = shown("", "Service", {"spec": spec})
    assert list(cells.values()) == ["x", "NodePort", "10.96.0.1", "<none>", "80:30001/TCP", "65s", "<none>"]


def test_events() -> None:
    event = {
        "lastTimestamp": CREATED,
        "type": "Warning",
        "reason": "Unschedulable",
        "involvedObject": {"kind": "Pod", "name": "p"},
        "message": "no room\n",
        "count": 2,
    }
    cells = shown("", "Event", event)
    assert (cells["Last Seen"], cells["Object"], cells["Message"]) == ("65s", "pod/p", "no room")


def test_custom_columns() -> None:
    queue = r".metadata.labels.kai\.scheduler/queue"
    ready = '.status.conditions[?(@.type=="Ready")].status'
    definition = {
        "additionalPrinterColumns": [
            {"name": "Min", "type": "integer", "jsonPath": ".spec.minMember"},
            {"name": "Ready", "type": "string", "jsonPath": ready},
            {
                "name": "Queue",
                "type": "string",
                "jsonPath": queue,
                "priority": 1,
            },
            {"name": "Absent", "type": "string", "jsonPath": ".spec.none"},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ]
    }
    obj = {
        "metadata": {"name": "x", "creationTimestamp": CREATED, "labels": {"kai.scheduler/queue": "q"}},
        "spec": {"minMember": 4},
        "status": {"conditions": [{"type": "Other"}, {"type": "Ready", "status": "True"}]},
    }
    cells = shown("scheduling.run.ai", "PodGroup", obj, definition=definition)
    assert cells == {"Name": "x", "Min": 4, "Ready": "True", "Queue": "q", "Absent": None, "Age": "65s"}


def test_kinds_without_columns_show_when_they_were_made() -> None:
    assert shown("", "LimitRange", {}) == {"Name": "x", "Created At": CREATED}
    assert shown("example.com", "Thing", {}, definition={"name": "v1"}) == {"Name": "x", "Age": "65s"}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".a.b[0].c", [1]),
        ("{.a.b[*].c}", [1, 2]),
        (".a['x.y']", [3]),
        (".a.b[-1].c", [2]),
        (".a.b[9].c", []),
        (".a[", []),
        ("a.b[0].c", [1]),
    ],
)
def test_json_paths(path: str, found: list[int]) -> None:
    assert find(path, {"a": {"b": [{"c": 1}, {"c": 2}], "x.y": 3}}) == found


def test_selectors_in_short() -> None:
    expressions = [
        {"key": "b", "operator": "In", "values": ["2", "1"]},
        {"key": "c", "operator": "DoesNotExist"},
        {"key": "d", "operator": "Exists"},
    ]
    assert selector({"matchLabels": {"a": "1"}, "matchExpressions": expressions}) == "!c,a=1,b in (1,2),d"
