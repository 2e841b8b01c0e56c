"""Why gangs wait, as the scheduler said last: it writes here, the status controller reads.

`is_live` is false until a scheduler of this process has decided once: then nothing is known about any gang,
and what stands in a status is left there.
"""

from collections.abc import Callable, Iterable

from quorate.plan import Ref, Refusal

Key = tuple[str, str]


class Refusals:
    def __init__(self) -> None:
        self.is_live = False
        self._found: dict[Key, Refusal] = {}
        self._subscribers: list[Callable[[Key], None]] = []

    def get(self, namespace: str, name: str) -> Refusal | None:
        return self._found.get((namespace, name))

    def subscribe(self, changed: Callable[[Key], None]) -> None:
        self._subscribers.append(changed)

    def publish(self, refusals: Iterable[Refusal]) -> list[Refusal]:
        """Replace all; the ones whose text is new, for events."""
        before, self._found = self._found, {key_of(one.gang): one for one in refusals}
        self.is_live = True
        fresh = [
            one for key, one in self._found.items() if key not in before or before[key].message != one.message
        ]
        for key in {key_of(one.gang) for one in fresh} | (before.keys() - self._found.keys()):
            for changed in self._subscribers:
                changed(key)
        return fresh


def key_of(ref: Ref) -> Key:
    return ref.namespace, ref.name
