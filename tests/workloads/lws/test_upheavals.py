"""Whatever happens to a set and its pods, in whatever order: it keeps its bounds and ends as its spec asks.

Edits, failures, deletions and passes are drawn at random. Then everybody behaves: pods get ready and go when
they are told to, and time passes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from quorate.api.core import POD
from quorate.plan import Delete
from quorate.workloads.lws.groups import Group, observe
from quorate.workloads.lws.rollout import pace_of
from quorate.workloads.lws.scaling import line_of, parsed
from tests.fakes.drawn import EXAMPLES
from tests.fakes.lws_set import World, manifest

PAUSED, SCALE_DOWN, NOTED = "quorate.dev/paused", "quorate.dev/scale-down", "quorate.dev/groups"


@dataclass
class Upheaval:
    """A world, and what may happen in it; `at` picks the pod or the value."""

    world: World = field(default_factory=lambda: World(manifest(2, 2)))

    def replicas(self, at: int) -> None:
        self.world.edit({"spec": {"replicas": at % 5}})

    def size(self, at: int) -> None:
        self.world.edit({"spec": {"leaderWorkerTemplate": {"size": 1 + at % 3}}})

    def image(self, at: int) -> None:
        container = {"name": "app", "image": f"example/app:{at % 3}"}
        template = {"workerTemplate": {"spec": {"containers": [container]}}}
        self.world.edit({"spec": {"leaderWorkerTemplate": template}})

    def rolling(self, at: int) -> None:
        unavailable, surge, partition = at % 3, at // 3 % 3, at // 9 % 3
        rolling = {"maxUnavailable": unavailable or int(not surge), "maxSurge": surge, "partition": partition}
        self.world.edit({"spec": {"rolloutStrategy": {"rollingUpdateConfiguration": rolling}}})

    def policy(self, at: int) -> None:
        policies = ("RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None")
        self.world.edit({"spec": {"leaderWorkerTemplate": {"restartPolicy": policies[at % 3]}}})

    def startup(self, at: int) -> None:
        self.world.edit({"spec": {"startupPolicy": ("LeaderCreated", "LeaderReady")[at % 2]}})

    def pause(self, at: int) -> None:
        self.world.edit({"metadata": {"annotations": {PAUSED: "true" if at % 2 else None}}})

    def pick(self, at: int) -> None:
        self.world.edit({"metadata": {"annotations": {SCALE_DOWN: "unready-first" if at % 2 else None}}})

    def ready(self, at: int) -> None:
        self.world.get_ready(self.one_of(at))

    def all_ready(self, _: int) -> None:
        self.world.get_ready(self.world.names)

    def unready(self, at: int) -> None:
        for name in self.one_of(at):
            self.world.set_status(name, conditions=None)

    def restart(self, at: int) -> None:
        for name in self.one_of(at):
            self.world.restart(name)

    def fail(self, at: int) -> None:
        for name in self.one_of(at):
            self.world.set_status(name, phase="Failed", conditions=None)

    def delete(self, at: int) -> None:
        for name in self.one_of(at):
            self.world.delete(name)

    def vanish(self, at: int) -> None:
        for name in self.one_of(at):
            del self.world.held[POD, name]

    def gone(self, _: int) -> None:
        self.world.gone()

    def wait(self, at: int) -> None:
        self.world.now += at

    def one_of(self, at: int) -> list[str]:
        names = self.world.names
        return names[at % len(names) :][:1] if names else []

    def groups(self) -> dict[int, Group]:
        item = self.world.item
        return observe(item.metadata.name, item.metadata.uid, self.world.all(POD))

    def step(self, _: int = 0) -> None:
        before = self.groups()
        plan = self.world.step()
        self.assert_bounds(
            before, {change.target.name for change in plan.changes if isinstance(change, Delete)}
        )

    def assert_bounds(self, before: dict[int, Group], deleted: set[str]) -> None:
        """Never too many groups; and what goes while all is well leaves enough that are ready."""
        pace, after = pace_of(self.world.item.spec), self.groups()
        assert len(after) <= max(pace.bound, len(before))
        line = line_of(self.world.item, before)
        lost = [
            index
            for index, group in before.items()
            if group.is_settled
            and index in line.wanted
            and any(pod.metadata.name in deleted for pod in group.pods.values())
        ]
        left = sum(group.is_ready for group in after.values())
        assert not lost or left >= pace.lowest_ready, f"{lost} went, {left} are ready of {pace}"

    def calm(self) -> None:
        """Nobody asks for anything more."""
        self.pause(0)
        self.world.edit({"spec": {"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": 0}}}})
        for _ in range(200):
            self.world.gone()
            self.world.get_ready(self.world.names)
            self.world.now += 400  # longer than any back-off
            self.step()
            if not self.world.plan().changes and self.is_calm():
                return
        raise AssertionError("still moving after 200 passes")

    def is_calm(self) -> bool:
        return all(group.is_ready for group in self.groups().values())


EVENTS: list[Callable[[Upheaval, int], None]] = [
    Upheaval.replicas,
    Upheaval.size,
    Upheaval.image,
    Upheaval.rolling,
    Upheaval.policy,
    Upheaval.startup,
    Upheaval.pause,
    Upheaval.pick,
    Upheaval.ready,
    Upheaval.all_ready,
    Upheaval.unready,
    Upheaval.restart,
    Upheaval.fail,
    Upheaval.delete,
    Upheaval.vanish,
    Upheaval.gone,
    Upheaval.wait,
    *[Upheaval.step] * 6,
]


@settings(deadline=None, max_examples=EXAMPLES)
@given(st.lists(st.tuples(st.sampled_from(EVENTS), st.integers(0, 80)), max_size=40))
def test_every_upheaval_ends_where_the_spec_asks(
    events: list[tuple[Callable[[Upheaval, int], None], int]],
) -> None:
    story = Upheaval()
    for happens, at in events:
        happens(story, at)
    story.calm()
    world = story.world
    spec = world.body["spec"]
    n, size = spec["replicas"], spec["leaderWorkerTemplate"]["size"]
    noted = parsed(world.body["metadata"].get("annotations", {}).get(NOTED, ""))
    indices = noted or list(range(n))
    assert len(indices) == n
    assert world.names == sorted(
        f"web-{index}" + (f"-{worker}" if worker else "") for index in indices for worker in range(size)
    )
    status = world.status
    assert set(world.revisions().values()) <= {status["updateRevision"]}
    assert world.condition("Available") == "True"
    assert status.get("readyReplicas", 0) == n
