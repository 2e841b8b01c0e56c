"""Admission of LeaderWorkerSets: schema, defaults and rules in the order of an API server."""

from typing import Any

import msgspec

from quorate.admission.lws import defaulted, review
from quorate.admission.rollout import amount_faults, scaled
from quorate.api.crds import crds
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.embedded import customkind
from tests.cases.deviations import Mismatch, explain
from tests.cases.outcome import Outcome, deviating, failed, passed, unsupported

Json = dict[str, Any]

TEMPLATE: Json = {"metadata": {}, "spec": {"containers": [{"name": "a", "image": "b"}]}}


def run(case: Json, file: Json) -> Outcome:
    del file
    if "out" in case:
        spec = case["in"]
        if case["evidence"] == "upstream_admission":
            spec = _completed({"metadata": {"name": "a"}, "spec": spec})["spec"]
        got, want = defaulted(spec), case["out"]
        return _compared(case, {name: got.get(name) for name in want}, want, "lws_defaulting")
    if "function" in case:
        return _amount(case)
    return _admitted(case)


def _admitted(case: Json) -> Outcome:
    new = _object(case["spec"])
    refused = [f"{cause.field}: {cause.message}" for cause in customkind.check(SCHEMA, new).causes]
    if case.get("rejected_by") == "schema":
        return _compared(case, _joined(refused), case["message"], "lws_schema")
    if "reference_crashes" in case:
        # Null stands here for a field that misses although the schema has a default for it.
        text = "refused" if refused or _review(case) else "admitted"
        wanted = "refused" if case["suggest"] == "reject" else "admitted"
        return _compared(case, text, wanted, "lws_crashes")
    return _compared(case, _joined(_review(case)), case.get("message", ""), "lws_validation")


def _review(case: Json) -> list[str]:
    new = msgspec.convert(_object(case["spec"]), LeaderWorkerSet)
    old = msgspec.convert(_object(case["old"]), LeaderWorkerSet) if "old" in case else None
    return [str(fault) for fault in review(new, old).errors]


def _amount(case: Json) -> Outcome:
    want, text = case["expect"], case["input"]
    if case["function"] == "at_most_100_percent":
        got = [fault.message for fault in amount_faults("field", text)]
        return _compared(case, bool(got), bool(want["wantErr"]), "lws_amounts")
    if case["function"] == "percent_value":
        value = scaled(text, 100, up=True) if isinstance(text, str) else None
        expected = want["wantOutputVal"] if want["wantOutputBool"] else None
        return _compared(case, value, expected, "lws_amounts")
    return unsupported(f"LWS function {case['function']}")


def _object(spec: Json) -> Json:
    """The object that a case describes in short."""
    template: Json = {"size": spec.get("size"), "workerTemplate": TEMPLATE}
    policy = spec.get("sub_group_policy") or spec.get("subGroupPolicy")
    if policy is not None:
        template["subGroupPolicy"] = policy
    if "restartPolicy" in spec:
        template["restartPolicy"] = spec["restartPolicy"]
    rollout = spec.get("rolloutStrategy") or {"rollingUpdateConfiguration": spec.get("rolling")}
    wire: Json = {
        "metadata": {"name": spec.get("name", "test-sample"), "annotations": spec.get("annotations")},
        "spec": {
            "replicas": spec.get("replicas"),
            "leaderWorkerTemplate": template,
            "rolloutStrategy": rollout,
        },
    }
    for name in ("startupPolicy", "networkConfig"):
        if name in spec:
            wire["spec"][name] = spec[name]
    return _completed(wire)


def _completed(wire: Json) -> Json:
    whole = {"apiVersion": LEADER_WORKER_SET.api_version, "kind": LEADER_WORKER_SET.kind, **wire}
    completed: Json = customkind.complete(SCHEMA, whole).object
    return completed


def _joined(messages: list[str]) -> str:
    return messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]" if messages else ""


def _compared(case: Json, got: object, want: object, topic: str) -> Outcome:
    if got == want:
        return passed({"got": got})
    reason = explain(Mismatch(topic, case, want, got))
    return deviating(reason) if reason else failed(f"expected {want!r}, got {got!r}")


SCHEMA: Json = next(
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for definition in crds()
    if definition["spec"]["names"]["kind"] == LEADER_WORKER_SET.kind
)
