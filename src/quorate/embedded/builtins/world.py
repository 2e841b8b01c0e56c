"""What the built-in controllers look up, kept in step with the store by its events.

Indexes: objects by uid, children by owner, objects without a controller, pods by node and by label. A
listener registered here runs after the indexes have taken the event in.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from quorate.api.meta import Json, Kind
from quorate.embedded.store import Event, Key, Store
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.outcome import controller_of
from quorate.workloads.builtin.selection import matches

_Keys = dict[Key, None]  # an ordered set: the same run visits in the same order
_Place = tuple[str, ...]
_NOTHING: _Keys = {}
_ADOPTABLE = {"pods", "replicasets"}
_POD = (kinds.POD.group, kinds.POD.plural)


def key_of(kind: Kind, namespace: str, name: str) -> Key:
    return Key(kind.group, kind.plural, namespace, name)


class World:
    def __init__(self, store: Store) -> None:
        self.store = store
        self.live: dict[str, Key] = {}
        self._filed: defaultdict[_Place, _Keys] = defaultdict(dict)
        self._listeners: defaultdict[tuple[str, str], list[Callable[[Event], None]]] = defaultdict(list)
        self._everywhere: list[Callable[[Event], None]] = []
        for group, plural in store.resources():
            for namespace, name, entry in store.entries(group, plural):
                self._enter(Key(group, plural, namespace, name), entry.object)
        store.on_event(self._take)

    def on(self, kind: Kind, listener: Callable[[Event], None]) -> None:
        self._listeners[kind.group, kind.plural].append(listener)

    def on_any(self, listener: Callable[[Event], None]) -> None:
        self._everywhere.append(listener)

    def get(self, kind: Kind, namespace: str, name: str) -> Json | None:
        return self.store.get(key_of(kind, namespace, name))

    def all(self, kind: Kind, namespace: str | None = None) -> Sequence[Json]:
        return self.store.list(kind.group, kind.plural, namespace)

    def children(self, uid: str, kind: Kind) -> list[Json]:
        """Objects of a kind that name the uid as an owner."""
        keys = self._filed.get(("owner", uid), ())
        return self._objects(key for key in keys if key.plural == kind.plural and key.group == kind.group)

    def dependents(self, uid: str) -> list[Key]:
        return list(self._filed.get(("owner", uid), ()))

    def loose(self, kind: Kind, namespace: str, selector: Json | None) -> list[Json]:
        """Objects of an adoptable kind that have no controller and may match the selector."""
        pairs = ((selector or {}).get("matchLabels") or {}).items()
        places: list[_Place] = [("loose", kind.plural, namespace, key, value) for key, value in pairs]
        return self._objects(self._rarest(places or [("loose", kind.plural, namespace)]))

    def pods_on(self, node: str) -> list[Json]:
        return self._objects(self._filed.get(("node", node), ()))

    def count_children(self, uid: str) -> int:
        return len(self._filed.get(("owner", uid), ()))

    def pods_matching(self, namespace: str, selector: Json | None) -> list[Json]:
        """Pods of a namespace by label selector, starting from the rarest of its labels."""
        if selector is None:
            return []
        pairs = (selector.get("matchLabels") or {}).items()
        if not pairs:
            pods: Iterable[Json] = self.all(kinds.POD, namespace)
        else:
            pods = self._objects(self._rarest([("label", namespace, key, value) for key, value in pairs]))
        return [pod for pod in pods if matches(selector, pod["metadata"].get("labels"))]

    def count_pods(self, namespace: str, selector: Json | None) -> int:
        """How many pods `pods_matching` looks at."""
        pairs = ((selector or {}).get("matchLabels") or {}).items()
        return len(self._rarest([("label", namespace, key, value) for key, value in pairs])) if pairs else 0

    def _rarest(self, places: Sequence[_Place]) -> _Keys:
        found = [self._filed.get(place, _NOTHING) for place in places]
        return min(found, key=len)

    def _objects(self, keys: Iterable[Key]) -> list[Json]:
        get = self.store.get
        return [item for key in tuple(keys) if (item := get(key)) is not None]

    def _take(self, event: Event) -> None:
        before = event.previous if event.type == "MODIFIED" else None
        if event.type == "DELETED":
            self._leave(event.key, event.object)
        elif before is None or _moved(before, event.object):
            if before is not None:
                self._leave(event.key, before)
            self._enter(event.key, event.object)
        for listener in self._listeners.get((event.key.group, event.key.plural), ()):
            listener(event)
        for listener in self._everywhere:
            listener(event)

    def _enter(self, key: Key, item: Json) -> None:
        self.live[item["metadata"]["uid"]] = key
        for place in _places(key, item):
            self._filed[place][key] = None

    def _leave(self, key: Key, item: Json) -> None:
        self.live.pop(item["metadata"]["uid"], None)
        for place in _places(key, item):
            held = self._filed.get(place)
            if held is not None:
                held.pop(key, None)
                if not held:
                    del self._filed[place]


def _places(key: Key, item: Json) -> Iterator[_Place]:
    """Where the indexes file an object."""
    meta = item["metadata"]
    for owner in meta.get("ownerReferences") or ():
        yield "owner", owner["uid"]
    if key.plural in _ADOPTABLE and controller_of(item) is None:
        yield "loose", key.plural, key.namespace
        for label, value in (meta.get("labels") or {}).items():
            yield "loose", key.plural, key.namespace, label, value
    if (key.group, key.plural) == _POD:
        if item["spec"].get("nodeName"):
            yield "node", item["spec"]["nodeName"]
        for label, value in (meta.get("labels") or {}).items():
            yield "label", key.namespace, label, value


def _moved(before: Json, after: Json) -> bool:
    """Whether anything that an index files by has changed."""
    old, new = before["metadata"], after["metadata"]
    return (
        old.get("labels") != new.get("labels")
        or old.get("ownerReferences") != new.get("ownerReferences")
        or old["uid"] != new["uid"]
        or (before.get("spec") or {}).get("nodeName") != (after.get("spec") or {}).get("nodeName")
    )
