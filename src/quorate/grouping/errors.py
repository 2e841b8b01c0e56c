"""Why a pod cannot be grouped.

GroupingError            root
├── MalformedError       a field of the workload says something that cannot be meant; the message names it
├── UnresolvedError      an object that grouping needs does not exist (yet), or is not the one referred to
└── NotFetchedError      an object that grouping needs was not handed in; the caller fetches it and asks again
"""

from quorate.grouping.objects import Address


class GroupingError(Exception):
    """The message is for the owner of the pod: what is wrong, and what to change."""


class MalformedError(GroupingError):
    pass


class UnresolvedError(GroupingError):
    pass


class NotFetchedError(GroupingError):
    def __init__(self, address: Address) -> None:
        super().__init__(f"{address} was not fetched")
        self.address = address
