from quorate.api.core import POD
from quorate.api.podgroup import POD_GROUP
from quorate.controllers.evicted import Evictions
from quorate.plan import Emit, EventType, Evict, Ref

GANG = Ref(kind=POD_GROUP, name="g", namespace="team")


def victim(name: str) -> Evict:
    return Evict(Ref(kind=POD, name=name, namespace="team"), "Preempted", f"Pod team/{name} had to go")


def test_each_pod_is_told_and_its_gang_once() -> None:
    evictions = Evictions()
    evictions.note(victim("a"), GANG)
    evictions.note(victim("b"), GANG)
    assert bool(evictions)
    assert list(evictions.told()) == [
        Emit(victim("a").pod, EventType.NORMAL, "Preempted", "Pod team/a had to go"),
        Emit(victim("b").pod, EventType.NORMAL, "Preempted", "Pod team/b had to go"),
        Emit(GANG, EventType.NORMAL, "Preempted", "2 members were evicted: Pod team/a had to go"),
    ]
    assert not evictions
    assert list(evictions.told()) == []


def test_a_pod_whose_gang_is_gone_is_told_alone() -> None:
    evictions = Evictions()
    evictions.note(victim("a"), None)
    assert [emit.about.name for emit in evictions.told()] == ["a"]
