from hypothesis import given, settings
from hypothesis import strategies as st

from quorate.admission.judges import judge_deletion
from quorate.admission.lint import lint
from quorate.admission.surroundings import Surroundings
from quorate.api.meta import Json
from quorate.api.queue import QUEUE, Queue, QueueSpec


def gang(**spec: object) -> Json:
    return {
        "apiVersion": "scheduling.run.ai/v2alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "ns"},
        "spec": spec,
    }


def queue(name: str) -> Json:
    wire = {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name}}
    return {**wire, "spec": {"resources": {}}}


def remarks(*documents: Json) -> list[str]:
    return [str(remark) for remark in lint(documents)]


def test_documents_are_seen_beside_each_other() -> None:
    assert remarks(gang(queue="team"), queue("team")) == []
    assert remarks(gang(queue="gone"), queue("team")) == [
        'PodGroup g: warning: spec.queue: queue "gone" does not exist: the cluster has team'
    ]


def test_a_file_without_queues_is_not_told_about_queues() -> None:
    assert remarks(gang(queue="team")) == []


def test_a_value_of_the_wrong_type_names_its_field() -> None:
    assert remarks(gang(minMember="three")) == [
        "PodGroup g: error: spec.minMember: must be integer, not string"
    ]


def test_a_document_that_says_no_kind_is_an_error() -> None:
    assert remarks({"apiVersion": "v1", "metadata": {"name": "g"}}) == [
        "object g: error: kind: an object begins with it"
    ]
    assert remarks({"kind": "Pod", "apiVersion": [1]}) == [
        "Pod without a name: error: apiVersion: an object begins with it"
    ]


def test_the_alias_group_has_the_same_rules() -> None:
    wire = gang(subGroups=[{"name": "a"}]) | {"apiVersion": "scheduling.kai.nvidia.com/v2alpha2"}
    assert remarks(wire) == [
        "PodGroup g: error: spec.subGroups[0].minMember: subgroup a: minMember is required"
    ]


def test_foreign_kinds_are_left_alone() -> None:
    assert remarks({"apiVersion": "v1", "kind": "Service"}) == []


def test_only_queues_in_use_are_held_back() -> None:
    around = Surroundings(queues={"b": Queue(spec=QueueSpec(parent_queue="a"))})
    assert len(judge_deletion(QUEUE, queue("a"), around).errors) == 1


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=9), below, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(["a", "b", "c", "", "A_b", "w-1"])
SMALL = st.none() | st.integers(-2, 4) | st.just(2**40)
GROUPS = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES}, optional={"parent": NAMES, "minMember": SMALL, "minSubGroup": SMALL}
    ),
    max_size=6,
)


@given(st.dictionaries(st.sampled_from(["minMember", "minSubGroup", "queue", "subGroups"]), TREES), GROUPS)
@settings(max_examples=300, deadline=None)
def test_nothing_that_is_sent_breaks_the_judge(spec: Json, groups: list[Json]) -> None:
    for remark in lint([gang(**spec), gang(subGroups=groups), gang(**{**spec, "subGroups": groups})]):
        assert remark.fault.message
        assert not remark.is_error or remark.fault.field
