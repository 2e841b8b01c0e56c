from quorate.admission.queue import review, review_deletion
from quorate.admission.surroundings import Surroundings
from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import PodGroup, PodGroupSpec
from quorate.api.queue import Queue, QueueResource, QueueResources, QueueSpec


def queue(name: str, parent: str = "", gpus: float = 2) -> Queue:
    resources = QueueResources(gpu=QueueResource(quota=gpus, limit=-1))
    return Queue(metadata=ObjectMeta(name=name), spec=QueueSpec(parent_queue=parent, resources=resources))


def around(*queues: Queue) -> Surroundings:
    return Surroundings(queues={each.metadata.name: each for each in queues})


def test_resources_must_be_given() -> None:
    (error,) = review(Queue()).errors
    assert str(error) == "spec.resources: resources must be specified"


def test_only_minus_one_means_unlimited() -> None:
    (error,) = review(queue("a", gpus=-2)).errors
    assert str(error) == "spec.resources.gpu.quota: -2 is negative: write -1 for unlimited, or at least 0"


def test_parents_in_a_circle_are_refused() -> None:
    (error,) = review(queue("a", "b"), None, around(queue("b", "a"))).errors
    assert str(error) == "spec.parentQueue: parents form a circle: a -> b -> a"


def test_a_queue_without_parent_is_sound() -> None:
    assert review(queue("a"), None, around()) == ((), ())


def test_a_missing_parent_warns() -> None:
    (warning,) = review(queue("a", "gone"), None, around()).warnings
    assert warning.message == 'parent queue "gone" does not exist: the queue gets nothing until it does'


def test_quota_above_the_parent_warns_alone_and_in_sum() -> None:
    parent = queue("org", gpus=3)
    (alone,) = review(queue("a", "org", 4), None, around(parent)).warnings
    assert alone.message == "child queue GPU quota (4) exceeds parent queue org GPU quota (3)"
    (total,) = review(queue("a", "org", 2), None, around(parent, queue("b", "org", 2))).warnings
    assert total.message == "total children GPU quota (4) exceeds parent queue org GPU quota (3)"
    assert review(queue("a", "org", 9), None, around(queue("org", gpus=-1))).warnings == ()


def test_a_quota_above_the_limit_warns() -> None:
    resources = QueueResources(gpu=QueueResource(quota=5, limit=2))
    found = Queue(metadata=ObjectMeta(name="a"), spec=QueueSpec(resources=resources))
    (warning,) = review(found, None, around()).warnings
    assert str(warning) == "spec.resources.gpu.quota: GPU quota (5) exceeds the limit (2), which counts"


def test_a_queue_in_use_stays() -> None:
    held = Surroundings(
        queues={"b": queue("b", "a")}, podgroups={"ns/g": PodGroup(spec=PodGroupSpec(queue="a"))}
    )
    assert [error.message for error in review_deletion(queue("a"), held).errors] == [
        "cannot delete queue a: it has child queues [b]",
        "cannot delete queue a: it has 1 workloads [ns/g]",
    ]
    assert review_deletion(queue("c"), held) == ((), ())
