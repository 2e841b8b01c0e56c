import msgspec

from quorate.api.core import POD, Pod
from quorate.kube.cache import Cache
from quorate.kube.resources import Scope
from tests.fakes.api_server import pod


def read(name: str, revision: int, node: str = "", uid: str = "") -> Pod:
    found = msgspec.convert(pod(name, revision, node=node), Pod)
    if uid:
        found.metadata.uid = uid
    return found


def filled(*pods: Pod) -> Cache[Pod]:
    cache: Cache[Pod] = Cache(Scope(kind=POD))
    for one in pods:
        cache.put(one)
    return cache


def bound(one: Pod) -> Pod:
    return msgspec.structs.replace(one, spec=msgspec.structs.replace(one.spec, node_name="n1"))


def is_bound(one: Pod) -> bool:
    return bool(one.spec.node_name)


def assume(cache: Cache[Pod], name: str, until: float = 10.0) -> bool:
    found = cache.get("default", name)
    assert found
    return cache.assume(found, change=bound, shown=is_bound, until=until)


def node_of(cache: Cache[Pod], name: str) -> str:
    found = cache.get("default", name)
    assert found
    return found.spec.node_name


def test_an_assumption_is_visible_and_is_told_to_subscribers() -> None:
    cache = filled(read("a", 1))
    told: list[str] = []
    cache.subscribe(lambda _, new: told.append(new.spec.node_name if new else "-"))
    assert assume(cache, "a")
    assert node_of(cache, "a") == "n1"
    assert told == ["", "n1"]


def test_an_assumption_survives_versions_that_do_not_show_it_yet() -> None:
    cache = filled(read("a", 1))
    assume(cache, "a")
    cache.put(read("a", 2))
    assert node_of(cache, "a") == "n1"
    assert cache.assumed == 1


def test_an_assumption_ends_when_the_watch_shows_it() -> None:
    cache = filled(read("a", 1))
    assume(cache, "a")
    cache.put(read("a", 2, node="n7"))
    assert node_of(cache, "a") == "n7"
    assert cache.assumed == 0


def test_a_forgotten_assumption_shows_the_latest_version_of_the_watch() -> None:
    cache = filled(read("a", 1))
    assume(cache, "a")
    cache.put(read("a", 2))
    cache.forget("default", "a")
    found = cache.get("default", "a")
    assert found
    assert (found.spec.node_name, found.metadata.resource_version) == ("", "2")


def test_an_unconfirmed_assumption_expires() -> None:
    cache = filled(read("a", 1))
    assume(cache, "a", until=10.0)
    assert cache.expire(9.0) == []
    assert cache.expire(10.0) == [("default", "a")]
    assert not node_of(cache, "a")


def test_a_doubted_assumption_ends_earlier() -> None:
    cache = filled(read("a", 1))
    assume(cache, "a", until=30.0)
    cache.doubt("default", "a", until=10.0)
    assert node_of(cache, "a") == "n1"
    assert cache.expire(10.0) == [("default", "a")]


def test_a_new_pod_of_the_same_name_inherits_no_assumption() -> None:
    cache = filled(read("a", 1))
    assume(cache, "a")
    cache.put(read("a", 2, uid="other"))
    assert not node_of(cache, "a")


def test_nothing_is_assumed_of_a_pod_that_is_bound_already() -> None:
    cache = filled(read("a", 1, node="n3"))
    assert not assume(cache, "a")
    assert node_of(cache, "a") == "n3"


def test_a_list_keeps_assumptions_on_what_it_confirms() -> None:
    cache = filled(read("a", 1), read("b", 1))
    assume(cache, "a")
    cache.replace([read("a", 1)], {}, "5")
    assert node_of(cache, "a") == "n1"
    assert cache.get("default", "b") is None


def test_an_index_follows_changes() -> None:
    cache = filled(read("a", 1), read("b", 1, node="n2"))
    by_node = cache.index(lambda one: [one.spec.node_name] if one.spec.node_name else [])
    assert [one.metadata.name for one in by_node["n2"]] == ["b"]
    cache.put(read("a", 2, node="n2"))
    cache.drop(("default", "b"))
    assert [one.metadata.name for one in by_node["n2"]] == ["a"]
    assert by_node["n1"] == []
