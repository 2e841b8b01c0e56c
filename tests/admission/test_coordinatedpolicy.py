import msgspec

from quorate.admission.coordinatedpolicy import review
from quorate.api.rbgpolicy import CoordinatedPolicy

AT = "spec.policies"


def errors(*rules: dict[str, object]) -> list[str]:
    policy = msgspec.convert({"spec": {"policies": rules}}, CoordinatedPolicy)
    return [str(fault) for fault in review(policy).errors]


def test_a_rule_is_judged_by_its_own_roles() -> None:
    segments = {"segmentPlacement": {"segmentSize": {"a": 2, "x": 0}}}
    assert errors(
        {"name": "one", "roles": ["a", "b"], "strategy": segments},
        {"name": "one", "roles": ["a"], "strategy": {"scaling": {"maxSkew": "five"}}},
    ) == [
        f"{AT}[0].strategy.segmentPlacement.segmentSize.x: Invalid value: 0: must be greater than or equal to 1",
        f'{AT}[0].strategy.segmentPlacement.segmentSize.x: role "x" does not exist: the rule has a, b',
        f'{AT}[1].name: "one" is the name of two rules',
        f'{AT}[1].strategy.scaling.maxSkew: "five" is not a percentage from 0% to 100%, such as "5%"',
    ]


def test_rules_of_one_policy_agree_on_sizes() -> None:
    def sized(name: str, size: int) -> dict[str, object]:
        return {"name": name, "roles": ["a"], "strategy": {"segmentPlacement": {"segmentSize": {"a": size}}}}

    (error,) = errors(sized("one", 2), sized("two", 3))
    assert error.startswith(
        f'{AT}[1].strategy.segmentPlacement.segmentSize.a: segment size conflict for role "a"'
    )
    assert errors(sized("one", 2), sized("two", 2)) == []
