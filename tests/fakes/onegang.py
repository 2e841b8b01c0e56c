"""One gang on a node with room for all of it, and what its tree makes the scheduler do next."""

from collections import Counter
from collections.abc import Sequence

from quorate.scheduling import growth, victims
from quorate.scheduling.policy import new_trial
from quorate.scheduling.snapshot import Ints
from quorate.scheduling.trial import Trial
from tests.fakes.clusters import Cluster, Group

NAME, NODE = "g", "n"


def one_gang(groups: Sequence[Group], *, preemptibility: str = "") -> Cluster:
    """A gang whose first group is the root."""
    cluster = Cluster()
    cluster.node(NODE, 9999, cpus=9999, zone="z", rack="r")
    cluster.gang(NAME, list(groups), preemptibility=preemptibility)
    return cluster


def trial_of(cluster: Cluster) -> Trial:
    return new_trial(cluster.encoder.snapshot(cluster.now), cluster.policy)


def by_leaf(trial: Trial, pods: Ints) -> dict[str, int]:
    names = trial.snapshot.groups.names
    return dict(Counter(names[leaf] for leaf in trial.snapshot.pods.leaf[pods].tolist()))


def started(trial: Trial) -> dict[str, int]:
    """The members of each leaf that the next step starts, if the first choice among children fits."""
    step = next(growth.steps(trial, 0), None)
    return {} if step is None else by_leaf(trial, growth.first_choice(trial, step))


def given_up(trial: Trial) -> dict[str, int]:
    """The members of each leaf that the gang gives up next."""
    return by_leaf(trial, victims.next_unit(trial, 0))
