"""The environment that a group's controller adds to containers, merged with what the user wrote.

Kubernetes expands `$(NAME)` only from variables that stand before, so what users build on comes first: variables
of the group that are there already, then those added now, then those of the leader and its workers, then the
user's own. A name added now replaces the one that was there; of equal names added, the last value counts.
"""

from collections.abc import Sequence

from quorate.api.meta import Json

GROUP_VARIABLES = frozenset(
    {
        "RBG_GROUP_NAME",
        "RBG_ROLE_NAME",
        "RBG_ROLE_INDEX",
        "RBG_ROLE_INSTANCE_NAME",
        "RBG_COMPONENT_NAME",
        "RBG_COMPONENT_INDEX",
    }
)
LEADER_WORKER_PREFIX = "RBG_LWP_"


def merged(existing: Sequence[Json], added: Sequence[Json]) -> list[Json]:
    new = {variable["name"]: variable for variable in added}
    kept = [variable for variable in existing if variable["name"] not in new]
    of_group = [variable for variable in kept if variable["name"] in GROUP_VARIABLES]
    of_leader = [variable for variable in kept if variable["name"].startswith(LEADER_WORKER_PREFIX)]
    system = [*of_group, *of_leader]
    return [*of_group, *new.values(), *of_leader, *(variable for variable in kept if variable not in system)]
