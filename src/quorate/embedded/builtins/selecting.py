"""Which objects select a pod, found through one label of each selector: an event costs what it concerns."""

from collections import defaultdict
from collections.abc import Iterator

from quorate.api.meta import Json
from quorate.embedded.builtins.world import World
from quorate.embedded.store import Event, Key
from quorate.workloads.builtin.selection import matches


class Selectors:
    """Objects of one kind by a label pair their selector asks for; those with none are always tried."""

    def __init__(self) -> None:
        self._by_pair: defaultdict[tuple[str, str, str], dict[Key, Json]] = defaultdict(dict)
        self._place: dict[Key, tuple[str, str, str]] = {}

    def learn(self, world: World, event: Event) -> tuple[Key, ...]:
        """A trigger that only learns."""
        del world
        place = self._place.pop(event.key, None)
        if place is not None:
            del self._by_pair[place][event.key]
        selector = None if event.type == "DELETED" else selector_of(event.object)
        if selector is None:
            return ()
        pairs = sorted((selector.get("matchLabels") or {}).items())
        key, value = pairs[0] if pairs else ("", "")
        place = self._place[event.key] = (event.key.namespace, key, value)
        self._by_pair[place][event.key] = selector
        return ()

    def matching(self, namespace: str, labels: dict[str, str] | None) -> Iterator[Key]:
        for pair in (*(labels or {}).items(), ("", "")):
            for key, selector in self._by_pair.get((namespace, *pair), {}).items():
                if matches(selector, labels):
                    yield key


def selector_of(item: Json) -> Json | None:
    """A Service's plain map or a budget's label selector, as a label selector."""
    selector: Json | None = item["spec"].get("selector")
    if item["kind"] != "Service" or selector is None:
        return selector
    return {"matchLabels": selector}
