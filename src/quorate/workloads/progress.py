"""How far a rollout is, for people and for whoever waits for it."""

from typing import NamedTuple


class Progress(NamedTuple):
    """`is_done` and `is_stuck` end the wait: nothing more happens without somebody's help."""

    text: str
    is_done: bool = False
    is_stuck: bool = False
