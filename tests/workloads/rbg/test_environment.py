"""Which variables stand before which."""

from quorate.workloads.rbg.environment import merged


def _names(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "value": f"{at}"} for at, name in enumerate(names)]


def test_users_variables_come_last_so_that_they_can_refer_to_the_others() -> None:
    existing = _names("RBG_LWP_LEADER_ADDRESS", "RBG_GROUP_NAME", "MINE", "RBG_OTHER")
    found = merged(existing, _names("RBG_LWP_GROUP_SIZE"))
    assert [variable["name"] for variable in found] == [
        "RBG_GROUP_NAME",
        "RBG_LWP_GROUP_SIZE",
        "RBG_LWP_LEADER_ADDRESS",
        "MINE",
        "RBG_OTHER",
    ]


def test_what_is_added_replaces_what_was_there_and_the_last_of_equals_counts() -> None:
    added = [{"name": "RBG_GROUP_NAME", "value": "old"}, {"name": "RBG_GROUP_NAME", "value": "new"}]
    found = merged([{"name": "RBG_GROUP_NAME", "value": "stale"}, {"name": "A", "value": "1"}], added)
    assert found == [{"name": "RBG_GROUP_NAME", "value": "new"}, {"name": "A", "value": "1"}]
