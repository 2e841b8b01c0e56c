"""The object a request is about: its resource, namespace and name, and a subresource if the request has one."""

from typing import NamedTuple

from quorate.embedded.registry import Resource
from quorate.embedded.store import Key


class Target(NamedTuple):
    """The object a request is about."""

    resource: Resource
    namespace: str
    name: str
    subresource: str = ""

    @property
    def key(self) -> Key:
        return Key(self.resource.group, self.resource.plural, self.namespace, self.name)
