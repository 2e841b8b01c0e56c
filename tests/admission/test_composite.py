from quorate.admission.composite import review
from quorate.admission.surroundings import Surroundings
from quorate.api.composite import CompositePodGroup, CompositePodGroupSpec
from quorate.api.meta import ObjectMeta


def composite(name: str, parent: str = "", minimum: int | None = None) -> CompositePodGroup:
    spec = CompositePodGroupSpec(parent=parent, min_group_count=minimum)
    return CompositePodGroup(metadata=ObjectMeta(name=name, namespace="ns"), spec=spec)


def test_a_negative_minimum_is_refused() -> None:
    (error,) = review(composite("a", minimum=-1)).errors
    assert str(error) == "spec.minGroupCount: -1 is negative: write at least 0"


def circle() -> dict[str, CompositePodGroup]:
    return {"ns/a": composite("a", "b"), "ns/b": composite("b", "a")}


def test_parents_in_a_circle_are_refused() -> None:
    around = Surroundings(composites={"ns/b": composite("b", "a")})
    (error,) = review(composite("a", "b"), None, around).errors
    assert error.message == "parents form a circle: a -> b -> a"
    (error,) = review(composite("c", "a"), None, Surroundings(composites=circle())).errors
    assert error.message == "parents form a circle: c -> a -> b -> a"


def test_a_missing_parent_warns() -> None:
    (warning,) = review(composite("a", "b"), None, Surroundings(composites={})).warnings
    assert warning.message == 'CompositePodGroup "b" does not exist in namespace ns'
