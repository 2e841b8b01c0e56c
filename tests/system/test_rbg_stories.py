"""The stories of the segment design on real gangs and real capacity.

All share one cluster; each has nodes of its own, and where the design tells of a problem with one gang for the
whole group, a group like that hangs beside the one with segments.
"""

from collections.abc import Iterator

import pytest

from tests.fakes.rbg import GROUPS, WHOLE_GANG, Role, Seen, group, is_bound, look
from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl
from tests.system.cluster import embedded

NODES = {
    "one": "17x8gpu,name=one 1x4gpu,name=one-half",  # 140
    "later": "2x8gpu,name=later",
    "grow": "1x8gpu,name=grow-a 1x7gpu,name=grow-b",  # 15
    "flatgrow": "1x8gpu,name=flatgrow-a 1x7gpu,name=flatgrow-b",
    "size": "3x8gpu,name=size",  # 24
    "flatsize": "3x8gpu,name=flatsize",
    "two": "8x8gpu,name=two",
    "room": "2x8gpu,name=room",
    "wide": "10x8gpu,name=wide",  # 80
    "bad": "1x8gpu,name=bad",
}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    home = tmp_path_factory.mktemp("rbg")
    with embedded(home / "kubeconfig", "--nodes", " ".join(NODES.values())):
        shell = Kubectl(home / "kubeconfig", home)
        for pool in NODES:
            shell("label", "node", *nodes(shell, pool), f"pool={pool}")
        shell("cordon", *nodes(shell, "later"))
        yield shell


def nodes(shell: Kubectl, pool: str) -> list[str]:
    found = [node["metadata"]["name"] for node in shell.get("nodes")["items"]]
    return [name for name in found if name.startswith(f"{pool}-")]


def wait_ready(shell: Kubectl, name: str, *, seconds: int = 30) -> Seen:
    shell("wait", f"{GROUPS}/{name}", "--for=condition=Ready", f"--timeout={seconds}s", timeout=seconds + 10)
    return look(shell, name)


def test_story_1_nine_segments_serve_and_the_tenth_waits_whole(serving: Kubectl) -> None:
    roles = [Role("prefill", 100, pool="one"), Role("decode", 50, pool="one")]
    serving.apply(group("one", roles, "{prefill: 10, decode: 5}"))
    eventually(
        lambda: look(serving, "one").conditions.get("MinimumSegmentsAvailable"),
        until=lambda seen: seen == ("True", "MinimumSegmentReady", "9/10 segments ready (135/150 pods)"),
        within=150,
    )
    seen = eventually(
        lambda: look(serving, "one"),
        until=lambda seen: len(seen.of_segment(10, prefill=10, decode=5)) == 15,
    )
    assert seen.conditions["Ready"] == ("False", "PartialDeployment", "135/150 pods ready")
    assert seen.running == {"prefill": 90, "decode": 45}
    assert not any(map(is_bound, seen.of_segment(10, prefill=10, decode=5)))

    serving("label", "node", *nodes(serving, "later"), "pool=one", "--overwrite")
    serving("uncordon", *nodes(serving, "later"))
    seen = wait_ready(serving, "one", seconds=20)
    assert seen.running == {"prefill": 100, "decode": 50}
    assert seen.conditions["MinimumSegmentsAvailable"][1:] == (
        "AllSegmentsReady",
        "10/10 segments ready (150/150 pods)",
    )


def test_problem_1_growth_that_does_not_fit_holds_one_segment_and_not_all(serving: Kubectl) -> None:
    """Twelve pods serve, room is for fifteen, eighteen are asked for."""

    def roles(pool: str, segments: int) -> list[Role]:
        return [Role("prefill", 2 * segments, pool=pool), Role("decode", segments, pool=pool)]

    def placed(segments: int) -> str:
        return group("grow", roles("grow", segments), "{prefill: 2, decode: 1}")

    def flat(segments: int) -> str:
        return group("flatgrow", roles("flatgrow", segments), annotation=WHOLE_GANG)

    serving.apply(placed(4) + "---" + flat(4))
    for name in ("grow", "flatgrow"):
        assert wait_ready(serving, name).running == {"prefill": 8, "decode": 4}
    serving.apply(placed(6) + "---" + flat(6))
    seen = eventually(
        lambda: look(serving, "grow"),
        until=lambda seen: seen.running == {"prefill": 10, "decode": 5} and len(seen.pods) == 18,
    )
    assert not any(map(is_bound, seen.of_segment(6, prefill=2, decode=1)))
    available = eventually(
        lambda: look(serving, "grow").conditions["MinimumSegmentsAvailable"],
        until=lambda seen: seen[2] == "5/6 segments ready (15/18 pods)",
    )
    assert available[:2] == ("True", "MinimumMet")
    assert look(serving, "grow").conditions["Ready"][1] == "ScalingInProgress"
    hung = look(serving, "flatgrow")
    assert len(hung.pods) == 18
    assert hung.running == {"prefill": 8, "decode": 4}


def test_problem_2_instances_change_their_size_segment_by_segment(serving: Kubectl) -> None:
    def roles(pool: str, size: int) -> list[Role]:
        return [Role("server", 6, size=size, pool=pool)]

    def placed(size: int) -> str:
        return group("size", roles("size", size), "{server: 1}")

    def flat(size: int) -> str:
        return group("flatsize", roles("flatsize", size), annotation=WHOLE_GANG)

    serving.apply(placed(2) + "---" + flat(2))
    for name in ("size", "flatsize"):
        assert wait_ready(serving, name).running == {"server": 12}
    serving.apply(placed(4) + "---" + flat(4))
    eventually(
        lambda: look(serving, "size"),
        until=lambda seen: seen.running == {"server": 24} and seen.conditions["Ready"][0] == "True",
        within=60,
    )
    hung = look(serving, "flatsize")
    assert hung.running["server"] < 12
    assert any(not is_bound(pod) for pod in hung.pods)


def assert_story_3(shell: Kubectl, name: str, pool: str, *, instances: int, before: int, after: int) -> None:
    """One segment at a time, with room for nothing more than the growth itself."""

    def sized(size: int) -> str:
        return group(name, [Role("server", instances, size=size, pool=pool)], "{server: 1}")

    shell.apply(sized(before))
    assert wait_ready(shell, name, seconds=120).running == {"server": instances * before}
    shell.apply(sized(after))
    unready: list[list[int]] = []

    def rolled() -> Seen:
        seen = look(shell, name)
        unready.append(seen.unready_segments)
        return seen

    eventually(
        rolled,
        until=lambda seen: (
            seen.running == {"server": instances * after} and seen.conditions["Ready"][0] == "True"
        ),
        within=40 * instances,
    )
    assert max(map(len, unready)) == 1
    order = [found[0] for found in unready if found]
    assert order == sorted(order, reverse=True)


def test_story_3_in_small(serving: Kubectl) -> None:
    assert_story_3(serving, "room", "room", instances=4, before=3, after=4)


def test_all_segments_at_once_start_whole_as_far_as_there_is_room(serving: Kubectl) -> None:
    """120 pods in segments of three, room for 80: 26 segments run, and of the others not one pod."""
    roles = [Role("prefill", 80, pool="wide"), Role("decode", 40, pool="wide")]
    serving.apply(group("wide", roles, "{prefill: 2, decode: 1}", progression="Parallel"))
    seen = eventually(
        lambda: look(serving, "wide"),
        until=lambda seen: len(seen.pods) == 120 and seen.running == {"prefill": 52, "decode": 26},
        within=60,
    )
    whole = [len(set(map(is_bound, seen.of_segment(at, prefill=2, decode=1)))) for at in range(1, 41)]
    assert set(whole) == {1}
    serving.apply(
        group(
            "wide",
            [Role("prefill", 40, pool="wide"), Role("decode", 20, pool="wide")],
            "{prefill: 2, decode: 1}",
        )
    )
    assert wait_ready(serving, "wide").running == {"prefill": 40, "decode": 20}


def test_a_bad_revision_costs_one_segment_and_the_way_back_repairs_it(serving: Kubectl) -> None:
    good = group(
        "bad", [Role("prefill", 4, pool="bad"), Role("decode", 2, pool="bad")], "{prefill: 2, decode: 1}"
    )
    serving.apply(good)
    before = {pod["metadata"]["uid"] for pod in wait_ready(serving, "bad").of_segment(1, prefill=2, decode=1)}
    serving.apply(good.replace("fake-start-seconds: '0.01'", "fake-ready-seconds: '3600'"))
    seen = eventually(lambda: look(serving, "bad"), until=lambda seen: seen.unready_segments == [2])
    eventually(
        lambda: look(serving, "bad").group["status"]["coordinations"][0].get("updating"),
        until=lambda at: at == 2,
    )
    serving.apply(good)
    seen = wait_ready(serving, "bad")
    assert {pod["metadata"]["uid"] for pod in seen.of_segment(1, prefill=2, decode=1)} == before


def assert_story_2(shell: Kubectl, name: str, pool: str, prefill: int, decode: int, router: int) -> Seen:
    wanted = {"prefill": prefill, "decode": decode, "router": router}
    roles = [Role(one, count, pool=pool) for one, count in wanted.items()]
    shell.apply(group(name, roles, "{prefill: 5, decode: 3}", "{decode: 3, router: 2}"))
    seen = wait_ready(shell, name, seconds=600)
    assert seen.running == wanted
    return seen


def test_story_2_in_small_two_coordinations_end_at_what_is_wanted(serving: Kubectl) -> None:
    seen = assert_story_2(serving, "two", "two", prefill=30, decode=10, router=5)
    assert seen.conditions["MinimumSegmentsAvailable"][1] == "AllSegmentsReady"


@pytest.mark.nightly
def test_stories_2_and_3_in_full(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("rbg-full")
    with embedded(home / "kubeconfig", "--nodes", "15x8gpu,name=three 57x8gpu,name=two"):
        shell = Kubectl(home / "kubeconfig", home)
        for pool in ("two", "three"):
            shell("label", "node", *nodes(shell, pool), f"pool={pool}")
        assert_story_3(shell, "three", "three", instances=10, before=10, after=12)
        assert_story_2(shell, "two", "two", prefill=300, decode=100, router=50)
