"""Every rollout of small sets, explored to its end: the states are all there are, the schedules too.

A place of a set is `-` missing, `O` old and ready, `o` old and not ready yet, `s` old and sick, `U` new and
ready, `u` new and not ready, or `x` leaving; `_` and `y` are missing and leaving out of turn. What may happen:
the controller takes a pass, a group becomes ready or sick, one that leaves is gone. A change of replicas, size
or template in the middle leads to another state of the same kind (groups of any earlier template are old), so
starting in every state covers every such change.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import pytest

from quorate.workloads.lws.rollout import Moves, Pace, Seen, decide

LETTERS = "-OoUux"  # to start in; `s`, `y` and `_` come of these
SEEN = {
    "-": Seen(),
    "O": Seen(exists=True, is_ready=True),
    "o": Seen(exists=True),
    "U": Seen(exists=True, is_ready=True, is_updated=True),
    "u": Seen(exists=True, is_updated=True),
    "x": Seen(exists=True, is_leaving=True),
    "s": Seen(exists=True, is_sick=True),
    "y": Seen(exists=True, is_leaving=True, is_early=True),
    "_": Seen(is_early=True),
}


FATES = (("u", "U"), ("x", "-"), ("y", "_"), ("o", "s"))


def taken(state: str, moves: Moves) -> str:
    """The state after a pass: what is removed begins to leave, what is missing is made."""
    made = {**dict.fromkeys(moves.make_new, "u"), **dict.fromkeys(moves.make_old, "o")}
    after = list(state + "-" * (max(made, default=-1) + 1 - len(state)))
    for at in moves.remove:
        after[at] = "x"
    for at in moves.early:
        after[at] = "_" if after[at] in "-_" else "y"
    for at, letter in made.items():
        assert after[at] in "-_"
        after[at] = letter
    return trimmed("".join(after))


def trimmed(state: str) -> str:
    return state.rstrip("-")


def ready(state: str) -> int:
    return state.count("O") + state.count("U")


def existing(state: str) -> int:
    return len(state) - state.count("-") - state.count("_")


class Model:
    """One pace and all states that it leads to; `checked` ones are known to end well."""

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.checked: set[str] = set()

    def check(self, start: str) -> None:
        """Depth first; a state that is met again on its own path would be a rollout without an end."""
        start = start.rstrip("-")
        path: list[tuple[str, Iterator[str]]] = [(start, iter(self.next_states(start)))]
        on_path = {start}
        while path:
            state, following = path[-1]
            later = next(following, None)
            if later is None:
                on_path.discard(state)
                self.checked.add(state)
                path.pop()
            elif later not in self.checked:
                assert later not in on_path, f"{self.pace}: {[held for held, _ in path]} goes on for ever"
                on_path.add(later)
                path.append((later, iter(self.next_states(later))))

    def next_states(self, state: str) -> list[str]:
        if state in self.checked:
            return []
        after = self.passed(state)
        must = [after] if after != state else []
        must += [one for letter, to in FATES for one in replaced(state, letter, to)]
        if not must:
            self.assert_done(state)
        return [*must, *replaced(state, "o", "O"), *replaced(state, "s", "O")]  # these may recover, or never

    def passed(self, state: str) -> str:
        """One pass of the controller, which keeps what it may not break."""
        after = taken(state, decide(self.pace, [SEEN[letter] for letter in state]))
        floor = min(self.pace.lowest_ready, ready(state))
        beyond = sum(letter in "OU" for letter in state[self.pace.bound :])  # scaled down: they go at once
        assert ready(after) >= floor - beyond, f"{self.pace}: {state} -> {after}: too few are ready"
        assert existing(after) <= max(self.pace.bound, existing(state)), f"{self.pace}: {state} -> {after}"
        return after

    def assert_done(self, state: str) -> None:
        """Updated as far as the partition lets, and no surge left.

        Unless a group is sick that the partition keeps from being replaced, and uses the budget up.
        """
        n, held = self.pace.replicas, min(self.pace.partition, self.pace.replicas)
        is_done = len(state) == n and set(state[held:]) <= {"U"} and set(state[:held]) <= set("UOos")
        is_blocked = "s" in state[:held] and ready(state) <= self.pace.lowest_ready
        assert is_done or is_blocked, f"{self.pace}: {state} is where it ends"


@cache
def replaced(state: str, letter: str, to: str) -> list[str]:
    """Each state in which one of these letters has become another."""
    return [
        (state[:at] + to + state[at + 1 :]).rstrip("-") for at, found in enumerate(state) if found == letter
    ]


def paces(replicas: int) -> Iterator[Pace]:
    for unavailable, surge, partition in product(range(3), range(3), range(3)):
        surge_used = min(surge, replicas)  # as `pace_of` does
        if unavailable or surge_used or not replicas:  # admission refuses both as 0
            yield Pace(replicas, unavailable, surge_used, partition)


def explore(replicas: int, places: int) -> int:
    states = 0
    for pace in paces(replicas):
        model = Model(pace)
        for letters in product(LETTERS, repeat=places):
            model.check("".join(letters))
        states += len(model.checked)
    return states


@pytest.mark.parametrize(("replicas", "places"), [(0, 4), (1, 4), (2, 4), (3, 4), (4, 3), (5, 3)])
def test_every_rollout_of_small_sets_ends_and_keeps_its_bounds(replicas: int, places: int) -> None:
    assert explore(replicas, places) > 100


@pytest.mark.nightly
@pytest.mark.parametrize("replicas", range(6))
def test_every_rollout_of_up_to_five_groups_ends_and_keeps_its_bounds(replicas: int) -> None:
    assert explore(replicas, places=5) > 1000
