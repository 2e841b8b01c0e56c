from quorate.api.core import PriorityClass
from quorate.api.labels import PREEMPTIBILITY, PREEMPTIBILITY_FROM
from quorate.api.podgroup import PodGroup, PodGroupSpec
from quorate.rules.preemptibility import Claim, Priority, of_podgroup, priority_of, resolve


def test_the_first_valid_claim_wins() -> None:
    claims = [Claim("spec", ""), Claim("label on Job a", "non-preemptible"), Claim("pod", "preemptible")]
    assert resolve(claims, 50)[:2] == ("non-preemptible", "label on Job a")


def test_an_invalid_claim_warns_and_is_passed_over() -> None:
    found = resolve([Claim("label on Job a", "never"), Claim("pod", "semi-preemptible")], 50)
    assert found.value == "semi-preemptible"
    assert found.warnings == (
        (
            'label on Job a: "never" is no value of kai.scheduler/preemptibility: '
            "use preemptible, non-preemptible, semi-preemptible"
        ),
    )


def test_the_spec_decides_before_labels_and_says_where_its_value_was_found() -> None:
    made = PodGroup(spec=PodGroupSpec(preemptibility="preemptible"))
    assert of_podgroup(made, [("a", "non-preemptible")], 100)[:2] == ("preemptible", "spec.preemptibility")
    made.metadata.annotations = {PREEMPTIBILITY_FROM: "label on Job team/train"}
    assert of_podgroup(made, [], 100)[:2] == ("preemptible", "label on Job team/train")


def test_labels_decide_before_the_priority_the_first_pod_by_name_for_all() -> None:
    made = PodGroup()
    said = [("b", "preemptible"), ("c", ""), ("a", "non-preemptible")]
    assert of_podgroup(made, said, 50)[:2] == ("non-preemptible", "label on Pod a")
    made.metadata.labels = {PREEMPTIBILITY: "semi-preemptible"}
    assert of_podgroup(made, said, 50)[:2] == ("semi-preemptible", "label on the PodGroup")


def test_priority_decides_where_nobody_claims() -> None:
    assert resolve([], 99)[:2] == ("preemptible", "priority 99")
    assert resolve([], 100)[:2] == ("non-preemptible", "priority 100")


def test_a_missing_class_falls_back_and_says_so() -> None:
    classes = {"main": PriorityClass(value=7, global_default=True)}
    text = 'PriorityClass "gone" does not exist: priority 7 is used'
    assert priority_of("gone", classes) == Priority(7, text)
    assert priority_of("gone", {}).value == 50
    assert priority_of("", {}) == Priority(50)
