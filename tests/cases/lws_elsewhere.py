"""What belongs to upstream's way of working: StatefulSets, Volcano, and DisaggregatedSets above."""

from typing import Any

import msgspec

from quorate.api.lws import LeaderWorkerSet
from quorate.workloads.lws import revisions
from quorate.workloads.lws.blueprint import blueprint_of
from quorate.workloads.lws.claims import claims_of
from quorate.workloads.lws.names import Place
from tests.cases.lws_pods import compared
from tests.cases.outcome import Outcome, unsupported

Json = dict[str, Any]


def run(case: Json, file: Json) -> Outcome:
    topic: str = file["topic"]
    if topic == "owned_sets":
        return _claims(case) if case["set"] == "volume_claims" else compared("lws_sets", case, None, case)
    if topic == "volcano_pod_group":
        return compared("lws_volcano", case, None, case)
    return unsupported("DisaggregatedSet: not asked for")


def _claims(case: Json) -> Outcome:
    """The claims of a pod, without the name of the pod in theirs and without what we add to find them."""
    item = msgspec.convert(case["lws"], LeaderWorkerSet)
    made = claims_of(blueprint_of(item, "a", revisions.content(item)), Place(0, 0))
    got = [
        {"name": claim["metadata"]["name"].removesuffix("-test-sample-0"), **claim["spec"]} for claim in made
    ]
    want = [{"name": claim["metadata"]["name"], **claim["spec"]} for claim in case["expect"]]
    return compared("lws_claims", case, got, want)
