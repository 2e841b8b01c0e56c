"""An object of which only the metadata is at hand, as a watch of metadata shows it."""

from typing import Any

from quorate.api.meta import Json
from quorate.grouping.errors import NotFetchedError
from quorate.grouping.objects import Address


class Partial(dict[str, Any]):
    """Reads as the object does; who reads more of it than its metadata has to fetch it first."""

    def __init__(self, address: Address, metadata: Json) -> None:
        super().__init__(apiVersion=address.api_version, kind=address.kind, metadata=metadata)
        self._address = address

    def get(self, key: str, default: Any = None) -> Any:
        del default  # whether the object has it is not known
        return self[key]

    def __missing__(self, key: str) -> Any:
        raise NotFetchedError(self._address)
