from quorate.admission.pod import review
from quorate.admission.surroundings import Surroundings
from quorate.api.core import Pod
from quorate.api.labels import POD_GROUP_NAME, PREEMPTIBILITY, SKIP_POD_GROUPER, SUB_GROUP_NAME
from quorate.api.meta import ObjectMeta, OwnerReference
from quorate.api.podgroup import PodGroup, PodGroupSpec, SubGroup

GANG = PodGroup(spec=PodGroupSpec(sub_groups=[SubGroup(name="leader", min_member=1)]))
AROUND = Surroundings(podgroups={"ns/g": GANG})


def warnings(gang: str = "g", **labels: str) -> list[str]:
    keys = {"leaf": SUB_GROUP_NAME, "preemptibility": PREEMPTIBILITY}
    metadata = ObjectMeta(
        namespace="ns",
        annotations={POD_GROUP_NAME: gang},
        labels={keys[name]: value for name, value in labels.items()},
    )
    found = review(Pod(metadata=metadata), None, AROUND)
    assert not found.errors
    return [str(fault) for fault in found.warnings]


def test_a_member_of_a_leaf_passes() -> None:
    assert warnings(leaf="leader") == []


def test_an_unknown_leaf_lists_the_valid_ones() -> None:
    assert warnings(leaf="worker") == [
        ('metadata.labels.kai.scheduler/subgroup-name: label kai.scheduler/subgroup-name is "worker", '
        "which is no group that holds pods: set it to one of leader")
    ]  # fmt: skip


def test_a_missing_gang_warns() -> None:
    assert warnings(gang="x") == [
        'metadata.annotations.pod-group-name: PodGroup "x" does not exist in namespace ns: the pod waits for it'
    ]


def test_an_invalid_preemptibility_is_passed_over_with_a_word() -> None:
    (text,) = warnings(leaf="leader", preemptibility="never")
    assert text == (
        'metadata.labels.kai.scheduler/preemptibility: "never" is passed over: '
        "write one of preemptible, non-preemptible, semi-preemptible"
    )


def test_a_gang_that_the_grouper_is_about_to_make_is_no_reason_to_warn() -> None:
    owned = ObjectMeta(
        namespace="ns",
        annotations={POD_GROUP_NAME: "x"},
        owner_references=[OwnerReference(kind="Job", name="j", uid="u", controller=True)],
    )
    assert not review(Pod(metadata=owned), None, AROUND).warnings
    assert owned.annotations is not None
    owned.annotations[SKIP_POD_GROUPER] = "true"
    assert review(Pod(metadata=owned), None, AROUND).warnings
