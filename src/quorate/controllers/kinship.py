"""Which pods make one workload, and which one gang: learned links from nearest owners to top owners, all by UID.

The grouper keys its work by top owner; before a chain was walked once, the nearest owner stands for it.
"""

from collections.abc import Iterable

from quorate.api import labels
from quorate.api.core import Pod


class Kinship:
    def __init__(self) -> None:
        self._tops: dict[str, str] = {}
        self._below: dict[str, set[str]] = {}
        self._readers: dict[str, set[str]] = {}
        self._reads: dict[str, set[str]] = {}

    def key(self, pod: Pod) -> str:
        """The top owner as far as it is known."""
        found = nearest(pod)
        return self._tops.get(found, found)

    def below(self, key: str) -> Iterable[str]:
        """The nearest owners whose pods belong to this key."""
        return sorted(self._below.get(key, {key}))

    def learn(self, found: str, top: str) -> bool:
        """True if this is news, so that the work moves to another key."""
        if self._tops.get(found, found) == top:
            return False
        self._below.get(self._tops.get(found, ""), set()).discard(found)
        self._tops[found] = top
        self._below.setdefault(top, {top}).add(found)
        return True

    def read(self, uids: Iterable[str], key: str) -> None:
        """Work on `key` depends on these objects."""
        for uid in uids:
            self._readers.setdefault(uid, set()).add(key)
            self._reads.setdefault(key, set()).add(uid)

    def readers(self, uid: str) -> frozenset[str]:
        return frozenset(self._readers.get(uid, ()))

    def forget(self, key: str) -> None:
        """No pods are left."""
        for found in self._below.pop(key, ()):
            self._tops.pop(found, None)
        for uid in self._reads.pop(key, ()):
            self._readers[uid].discard(key)
            if not self._readers[uid]:
                del self._readers[uid]


def nearest(pod: Pod) -> str:
    """The UID of the controller, of the first owner where none controls, of the pod where it has none."""
    owners = pod.metadata.owner_references or ()
    owner = pod.metadata.controller or next(iter(owners), None)
    return owner.uid if owner else pod.metadata.uid


def gang_of(pod: Pod) -> list[str]:
    """Namespace and name of the PodGroup that the pod is a member of, if any."""
    name = pod.metadata.annotation(labels.POD_GROUP_NAME)
    return [f"{pod.metadata.namespace}/{name}"] if name else []
