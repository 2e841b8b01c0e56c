import msgspec

from quorate.api.meta import Condition
from quorate.api.rbg import ROLE_BASED_GROUP
from quorate.api.rbgpolicy import CoordinatedPolicy
from quorate.plan import SetStatus
from quorate.workloads.rbg.policies import statuses


def test_a_policy_says_whether_there_is_a_group_of_its_name() -> None:
    policy = msgspec.convert({"metadata": {"name": "llm", "generation": 3}}, CoordinatedPolicy)
    said = []
    for groups in ([], [ROLE_BASED_GROUP]):
        (change,) = statuses(policy, groups, 0)
        assert isinstance(change, SetStatus)
        policy.status.conditions = msgspec.convert(change.status["conditions"], list[Condition])
        policy.status.observed_generation = 3
        said += [(one.status, one.message) for one in policy.status.conditions]
        assert list(statuses(policy, groups, 9)) == []
    assert said == [
        (
            "False",
            'no RoleBasedGroup is called "llm": a policy steers the group of its own name and namespace',
        ),
        ("True", "steers rolebasedgroups.workloads.instai.io/llm"),
    ]
