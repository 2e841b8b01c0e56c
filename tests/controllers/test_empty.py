import asyncio

import msgspec

from quorate.api import labels
from quorate.api.core import POD, Pod
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.controllers.empty import PATIENCE_SECONDS, EmptyGroups
from quorate.grouping.writes import DERIVED
from quorate.kube.cache import Cache
from quorate.kube.resources import Scope


class Stage:
    def __init__(self) -> None:
        self.pods: Cache[Pod] = Cache(Scope(kind=POD))
        self.groups: Cache[PodGroup] = Cache(Scope(kind=POD_GROUP))
        self.empty = EmptyGroups(self.pods, self.groups)

    def group(self, name: str, *, made_here: bool = True) -> None:
        meta = {
            "name": name,
            "namespace": "team",
            "uid": f"uid-{name}",
            "annotations": {DERIVED: "x"} if made_here else {},
            "ownerReferences": [{"kind": "Job", "name": "j", "uid": "job"}],
        }
        self.groups.put(msgspec.convert({"metadata": meta}, PodGroup))

    def pod(self, gang: str) -> None:
        meta = {"name": "p", "namespace": "team", "annotations": {labels.POD_GROUP_NAME: gang}}
        self.pods.put(msgspec.convert({"metadata": meta}, Pod))

    def due(self, now: float) -> list[str]:
        return [group.metadata.name for group in self.empty.below(["job"], now).due]


def on_stage() -> Stage:
    async def make() -> Stage:
        return Stage()

    return asyncio.run(make())


def test_an_empty_group_goes_after_a_while() -> None:
    stage = on_stage()
    stage.group("g")
    assert stage.empty.below(["job"], 100.0).wait_seconds == PATIENCE_SECONDS
    assert stage.due(100.0 + PATIENCE_SECONDS - 1) == []
    assert stage.due(100.0 + PATIENCE_SECONDS) == ["g"]


def test_pods_that_return_start_the_time_anew() -> None:
    stage = on_stage()
    stage.group("g")
    stage.due(0.0)
    stage.pod("g")
    assert stage.due(PATIENCE_SECONDS) == []
    stage.pods.drop(("team", "p"))
    assert stage.due(PATIENCE_SECONDS + 1) == []


def test_groups_of_people_and_of_other_owners_stay() -> None:
    stage = on_stage()
    stage.group("mine", made_here=False)
    stage.group("other")
    assert stage.empty.below(["another-job"], 0.0).wait_seconds is None
    stage.due(0.0)
    assert stage.due(PATIENCE_SECONDS) == ["other"]
