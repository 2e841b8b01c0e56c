from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quorate.workloads.builtin.rollout import available, limits, name, proportional, rolling, wanted

_COUNTS = st.integers(0, 12)


@given(
    desired=st.integers(1, 12),
    surge=st.integers(0, 4),
    unavailable=st.integers(0, 4),
    current=st.tuples(_COUNTS, _COUNTS),
    old=st.lists(st.tuples(_COUNTS, _COUNTS), max_size=3),
)
def test_a_step_grows_within_the_surge_and_keeps_enough_available(
    desired: int,
    surge: int,
    unavailable: int,
    current: tuple[int, int],
    old: list[tuple[int, int]],
) -> None:
    item = _deployment(desired, surge, unavailable)
    new, *others = [
        _set(f"s{place}", size, min(up, size)) for place, (size, up) in enumerate([current, *old])
    ]
    sizes = rolling(item, new, others)
    after = {name(found): sizes.get(name(found), wanted(found)) for found in (new, *others)}
    most, missing = limits(item)
    before = sum(wanted(found) for found in (new, *others))
    assert all(size >= 0 for size in after.values())
    assert sum(after.values()) <= max(desired + most, before)
    if any(after[name(found)] < wanted(found) for found in others):
        left = sum(min(available(found), after[name(found)]) for found in (new, *others))
        healthy = sum(available(found) for found in (new, *others))
        assert left >= min(desired - missing, healthy)


@given(desired=st.integers(0, 40), sizes=st.lists(st.integers(1, 20), min_size=2, max_size=4))
def test_proportional_scaling_ends_at_the_total(desired: int, sizes: list[int]) -> None:
    item = _deployment(desired, 2, 1)
    new, *others = [_set(f"s{place}", size, 0) for place, size in enumerate(sizes)]
    after = proportional(item, new, others)
    assert all(size >= 0 for size in after.values())
    assert sum(after.values()) == (desired + 2 if desired else 0)


def test_a_stuck_rollout_repeats_its_answer() -> None:
    item = _deployment(4, 1, 0)
    assert rolling(item, _set("new", 1, 0), [_set("old", 4, 4)]) == {}


def _deployment(desired: int, surge: int, unavailable: int) -> dict[str, Any]:
    bounds = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {"spec": {"replicas": desired, "strategy": {"type": "RollingUpdate", "rollingUpdate": bounds}}}


def _set(label: str, size: int, up: int) -> dict[str, Any]:
    meta = {"name": label, "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {"metadata": meta, "spec": {"replicas": size}, "status": {"availableReplicas": up}}
