import msgspec

from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.controllers.refused import no_longer_refused, refused
from quorate.plan import Emit, Ref, Refusal, SetStatus

GANG = Ref(kind=POD_GROUP, name="g", namespace="default")
REFUSAL = Refusal(
    gang=GANG, gate="NotEnoughResources", message="short of 8 GPUs", group="workers", numbers={"found": 1}
)


def group(status: object = None) -> PodGroup:
    found = PodGroup(metadata=ObjectMeta(name="g", namespace="default", uid="u", resource_version="5"))
    return msgspec.structs.replace(found, status=msgspec.convert(status or {}, type(found.status)))


def test_a_new_refusal_is_a_condition_and_an_event() -> None:
    status, event = refused(REFUSAL, group(), 0.0)
    assert isinstance(status, SetStatus)
    assert isinstance(event, Emit)
    (condition,) = status.status["schedulingConditions"]
    assert condition["type"] == "UnschedulableOnNodePool"
    assert condition["reasons"] == [
        {
            "reason": "NotEnoughResources",
            "message": "short of 8 GPUs",
            "group": "workers",
            "details": {"found": 1},
        }
    ]
    assert status.target.uid == "u"
    assert event.message == "short of 8 GPUs"


def test_a_refusal_that_is_shown_already_writes_nothing() -> None:
    status, _ = refused(REFUSAL, group(), 0.0)
    assert isinstance(status, SetStatus)
    assert list(refused(REFUSAL, group(status.status), 60.0)) == []


def test_the_same_refusal_is_reworded_once_in_a_while() -> None:
    status, _ = refused(REFUSAL, group(), 0.0)
    assert isinstance(status, SetStatus)
    reworded = msgspec.structs.replace(REFUSAL, message="short of 7 GPUs")
    other = msgspec.structs.replace(REFUSAL, gate="OverLimit")
    assert list(refused(reworded, group(status.status), 4.0)) == []
    assert len(list(refused(reworded, group(status.status), 6.0))) == 2
    assert len(list(refused(other, group(status.status), 4.0))) == 2


def test_what_is_over_is_cleared_once() -> None:
    status, _ = refused(REFUSAL, group(), 0.0)
    assert isinstance(status, SetStatus)
    (cleared,) = no_longer_refused(GANG, group(status.status))
    assert isinstance(cleared, SetStatus)
    assert cleared.status == {"schedulingConditions": None}
    assert list(no_longer_refused(GANG, group())) == []
