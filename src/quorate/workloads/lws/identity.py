"""Who one pod of a group is: what its environment, host names and affinity terms are derived from."""

from dataclasses import dataclass

from quorate.rules.segments import sub_group_index
from quorate.workloads.lws.names import Place, leader_name, pod_name, worker_name


@dataclass(frozen=True, slots=True)
class Identity:
    """One pod; `sub_group_size` is `None` in a set without sub-groups."""

    set_name: str
    namespace: str
    place: Place
    size: int
    subdomain: str
    sub_group_size: int | None = None
    is_leader_excluded: bool = False
    exclusive_topology: str = ""
    sub_group_exclusive_topology: str = ""

    @property
    def name(self) -> str:
        return pod_name(self.set_name, self.place)

    @property
    def leader(self) -> str:
        return leader_name(self.set_name, self.place.group)

    @property
    def is_leader(self) -> bool:
        return self.place.index == 0

    @property
    def sub_group(self) -> int | None:
        """The sub-group it is in; `None` without sub-groups and for a leader that is excluded from them."""
        return self.sub_group_of(self.place.index)

    def sub_group_of(self, index: int) -> int | None:
        if self.sub_group_size is None:
            return None
        return sub_group_index(index, self.size, self.sub_group_size, leader_excluded=self.is_leader_excluded)

    def host(self, index: int) -> str:
        """How pods of the group address one of them."""
        group = self.place.group
        name = worker_name(self.set_name, group, index) if index else leader_name(self.set_name, group)
        return f"{name}.{self.subdomain}"
