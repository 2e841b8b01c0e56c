"""Revisions of LeaderWorkerSets, and the names of their pods."""

from collections.abc import Callable
from typing import Any

import msgspec

from quorate.admission.lws import defaulted
from quorate.api.lws import LeaderWorkerSet
from quorate.workloads.lws import revisions
from tests.cases.lws_pods import compared, parent_and_ordinal
from tests.cases.outcome import Outcome, unsupported

Json = dict[str, Any]

SAMPLE: Json = {
    "metadata": {"name": "test-sample", "namespace": "default"},
    "spec": {
        "replicas": 2,
        "leaderWorkerTemplate": {
            "size": 2,
            "restartPolicy": "RecreateGroupOnPodRestart",
            "leaderTemplate": {
                "metadata": {},
                "spec": {"containers": [{"image": "example/app:1", "name": "leader", "resources": {}}]},
            },
            "workerTemplate": {
                "metadata": {},
                "spec": {
                    "containers": [
                        {
                            "image": "example/app:1",
                            "name": "worker",
                            "ports": [{"containerPort": 8080, "protocol": "TCP"}],
                            "resources": {},
                        }
                    ]
                },
            },
        },
        "networkConfig": {"subdomainPolicy": "Shared"},
    },
}


def run(case: Json, file: Json) -> Outcome:
    del file
    adapter = FUNCTIONS.get(case["function"])
    return adapter(case) if adapter else unsupported(f"LWS function {case['function']}")


def _ordinal(case: Json) -> Outcome:
    found = parent_and_ordinal(case["case"])
    return compared("lws_names", case, list(found or ("", -1)), case["expect"])


def _equal(case: Json) -> Outcome:
    left, right = (case[side] and revisions.content(_parsed(case[side])) for side in ("left", "right"))
    got = revisions.is_equal(left, right) if left and right else left == right
    return compared("lws_revisions", case, got, case["expect"])


def _hash(case: Json) -> Outcome:
    key = revisions.key_of_text(case["raw"].encode())
    number = int(case["name"].rpartition("-")[2])
    got = {"hash": key, "name": revisions.name_of("llm", key, number)}
    return compared("lws_revisions", case, got, {name: case[name] for name in got})


def _data(case: Json) -> Outcome:
    got = msgspec.json.encode(revisions.content(_parsed(SAMPLE)), order="sorted").decode()
    return compared("lws_revisions", case, got, case["data"])


def _change(case: Json) -> Outcome:
    edit = next((edit for word, edit in EDITS if word in case["change"]), None)
    if edit is None:
        return unsupported(f"LWS change {case['change']}")
    after = msgspec.json.decode(msgspec.json.encode(SAMPLE))
    edit(after)
    before = revisions.content(_parsed(SAMPLE))
    got = not revisions.is_equal(before, revisions.content(_parsed(after)))
    return compared("lws_revisions", case, got, case["new_revision"])


def _sets(case: Json) -> Outcome:
    """What upstream asks of StatefulSets, or of a set whose content the case does not give."""
    return compared("lws_sets", case, None, case["expect"])


def _parsed(wire: Json) -> LeaderWorkerSet:
    return msgspec.convert({**wire, "spec": defaulted(wire["spec"])}, LeaderWorkerSet)


def _template(item: Json) -> Json:
    found: Json = item["spec"]["leaderWorkerTemplate"]
    return found


def _set_image(item: Json, role: str) -> None:
    _template(item)[role]["spec"]["containers"][0]["image"] = "example/app:2"


# the first word that a change's name holds says what is edited
EDITS: tuple[tuple[str, Callable[[Json], object]], ...] = (
    ("network_null", lambda item: item["spec"].pop("networkConfig")),
    ("sub_domain", lambda item: item["spec"]["networkConfig"].update(subdomainPolicy="UniquePerReplica")),
    ("sub_group", lambda item: _template(item).update(subGroupPolicy={"subGroupSize": 1})),
    ("leader_removed", lambda item: _template(item).pop("leaderTemplate")),
    ("leader", lambda item: _set_image(item, "leaderTemplate")),
    ("worker", lambda item: _set_image(item, "workerTemplate")),
    ("size", lambda item: _template(item).update(size=3)),
    ("restart", lambda item: _template(item).update(restartPolicy="None")),
    ("claim", lambda item: _template(item).update(volumeClaimTemplates=[{"metadata": {"name": "a"}}])),
    ("startup", lambda item: item["spec"].update(startupPolicy="LeaderReady")),
    ("replicas", lambda item: item["spec"].update(replicas=3)),
    ("label", lambda item: item["metadata"].update(labels={"a": "b"})),
    ("annotation", lambda item: item["metadata"].update(annotations={"a": "b"})),
    *(
        (
            word,
            lambda item: item["spec"].update(
                rolloutStrategy={"rollingUpdateConfiguration": {"maxUnavailable": 2, "partition": 1}}
            ),
        )
        for word in ("roll", "partition", "surge", "unavailable")
    ),
)

FUNCTIONS: dict[str, Callable[[Json], Outcome]] = {
    "parent_and_ordinal": _ordinal,
    "equal_revision": _equal,
    "revision_hash": _hash,
    "revision_data_of_sample": _data,
    "change_makes_new_revision": _change,
    "worker_set_ready": _sets,
    "requests_for_set_event": _sets,
    "needs_new_revision": _sets,
    "sort_by_index": lambda case: compared("lws_positions", case, None, case["expect"]),
}
