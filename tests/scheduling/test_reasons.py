"""The numbers of a refusal are those of its text."""

from quorate.scheduling.gates import Gate, Stop
from quorate.scheduling.reasons import stop_numbers, stop_text
from quorate.scheduling.snapshot import GPU, MEMORY, SHARED


def stop(gate: Gate, resource: int, *amounts: float) -> Stop:
    bound, held, requested = amounts
    return Stop(gate, 0, SHARED.tolist().index(resource), bound, held, requested)


def test_a_limit_is_said_in_the_units_of_the_text() -> None:
    found = stop(Gate.LIMIT, GPU, 28000, 28000, 4000)
    assert stop_numbers(found, "q") == {"queue": "q", "limit": 28, "allocated": 28, "requested": 4}
    assert "Limit is 28 GPUs, currently 28 GPUs allocated and workload requested 4 GPUs" in stop_text(
        found, "q"
    )


def test_a_quota_is_compared_with_what_is_allocated_non_preemptible() -> None:
    found = stop(Gate.QUOTA, MEMORY, 2e9, 1e9, 1.5e9)
    assert stop_numbers(found, "q") == {
        "queue": "q",
        "quota": 2,
        "allocatedNonPreemptible": 1,
        "requested": 1.5,
    }
