from quorate.api.core import Pod
from quorate.api.meta import ObjectMeta, OwnerReference
from quorate.controllers.kinship import Kinship, nearest


def pod(*owners: OwnerReference) -> Pod:
    return Pod(metadata=ObjectMeta(name="a", uid="pod", owner_references=list(owners) or None))


REPLICA_SET = OwnerReference(kind="ReplicaSet", uid="rs", controller=True)
OTHER = OwnerReference(kind="Thing", uid="thing")


def test_the_controller_is_nearest_then_the_first_owner_then_the_pod_itself() -> None:
    assert nearest(pod(OTHER, REPLICA_SET)) == "rs"
    assert nearest(pod(OTHER)) == "thing"
    assert nearest(pod()) == "pod"


def test_a_learned_top_owner_becomes_the_key_of_all_below_it() -> None:
    kinship = Kinship()
    assert kinship.key(pod(REPLICA_SET)) == "rs"
    assert kinship.learn("rs", "deployment")
    assert kinship.learn("rs2", "deployment")
    assert not kinship.learn("rs", "deployment")
    assert kinship.key(pod(REPLICA_SET)) == "deployment"
    assert kinship.below("deployment") == ["deployment", "rs", "rs2"]


def test_a_changed_top_owner_moves_the_pods() -> None:
    kinship = Kinship()
    kinship.learn("rs", "old")
    kinship.learn("rs", "new")
    assert kinship.below("old") == ["old"]
    assert kinship.below("new") == ["new", "rs"]


def test_readers_of_an_owner_are_forgotten_with_their_pods() -> None:
    kinship = Kinship()
    kinship.learn("rs", "deployment")
    kinship.read(["rs", "deployment"], "deployment")
    assert kinship.readers("rs") == {"deployment"}
    kinship.forget("deployment")
    assert not kinship.readers("rs")
    assert kinship.key(pod(REPLICA_SET)) == "rs"
