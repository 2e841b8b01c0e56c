from quorate.workloads.lws.names import (
    Place,
    leader_name,
    place_of,
    pod_name,
    worker_name,
)


def test_a_leader_is_named_by_its_group_and_a_worker_by_its_index_too() -> None:
    assert leader_name("llm", 3) == pod_name("llm", Place(3, 0)) == "llm-3"
    assert worker_name("llm", 3, 12) == pod_name("llm", Place(3, 12)) == "llm-3-12"


def test_names_lead_back_to_places() -> None:
    assert place_of("llm", "llm-3") == Place(3, 0)
    assert place_of("llm", "llm-3-12") == Place(3, 12)


def test_pods_of_a_set_with_a_longer_name_are_not_the_sets() -> None:
    assert place_of("llm", "llm-chat-0") is None
    assert place_of("llm", "llm-0-1-2") is None


def test_a_number_that_the_controller_would_not_write_is_no_place() -> None:
    assert place_of("llm", "llm-01") is None
    assert place_of("llm", "llm-") is None
    assert place_of("llm", "llm") is None
