"""What the scheduler remembers on PodGroups."""

from msgspec.structs import replace

from quorate.api.labels import STALE_SINCE
from quorate.api.podgroup import POD_GROUP
from quorate.plan import Bind
from tests.fakes.clusters import Cluster, Group, moment


def test_a_broken_gang_is_whole_again_when_its_binds_have_happened_and_not_when_they_are_planned() -> None:
    cluster = Cluster()
    cluster.node("n", 4)
    cluster.gang("half", [Group("", min_member=2, members=2, running=("n",))])
    was = cluster.podgroups["half"]
    since = moment(cluster.now - 30)
    cluster.podgroups["half"] = replace(was, metadata=replace(was.metadata, annotations={STALE_SINCE: since}))
    cluster.show(POD_GROUP, cluster.podgroups["half"], was=was)
    assert any(isinstance(change, Bind) for change in cluster.cycle().changes)
    assert cluster.podgroups["half"].metadata.annotation(STALE_SINCE) == since
    cluster.cycle()
    assert cluster.podgroups["half"].metadata.annotation(STALE_SINCE) == ""
