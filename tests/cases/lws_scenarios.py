"""Whole rollouts of LeaderWorkerSets: actions on a set and its groups, and what the controller makes of them.

What upstream's scenarios let its StatefulSets do, our controller does itself: `statefulset_creates_leaders` are
the leaders that a pass plans, in the revision that it chooses. Deletions that it plans wait for the scenario.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from quorate.api import labels
from quorate.api.apps import CONTROLLER_REVISION
from quorate.api.core import POD, SERVICE, Pod
from quorate.kube.apply import target_of
from quorate.plan import Create, Emit
from quorate.workloads.lws.groups import observe
from quorate.workloads.lws.history import history_of
from quorate.workloads.lws.pods import leader_pod, worker_pod
from quorate.workloads.lws.reconcile import viewed
from quorate.workloads.lws.scaling import line_of
from quorate.workloads.lws.view import View
from tests.cases.deviations import Mismatch, explain
from tests.cases.lws_rollout_rules import RULES
from tests.cases.outcome import Outcome, deviating, failed, passed, unsupported
from tests.fakes.lws_set import NOW, World, manifest

Json = dict[str, Any]
ELSEWHERE = {"pod_groups", "pod_group_valid_at"}  # Volcano's
COUNTS = {"ready_replicas": "readyReplicas", "updated_replicas": "updatedReplicas"}


def run(case: Json, file: Json) -> Outcome:
    del file
    if case["volcano"]:
        return deviating("no Volcano: gangs are PodGroups of our scheduler")
    story = Story(case)
    got, want = [], []
    for step in case["steps"]:
        expected = {
            name: value for name, value in (step.get("expect") or {}).items() if name not in ELSEWHERE
        }
        unknown = [action["do"] for action in step.get("actions") or () if action["do"] not in ACTIONS]
        unknown += [name for name in expected if name not in KNOWN]
        if unknown:
            return unsupported(f"LWS scenario step {unknown[0]}")
        story.act(step.get("actions") or ())
        got.append({name: story.seen(name, value) for name, value in expected.items()})
        want.append(expected)
    if got == want:
        return passed({"steps": got})
    reason = explain(Mismatch("lws_scenarios", case, want, got), rules=RULES)
    return deviating(reason) if reason else failed(f"expected {want}, got {got}")


class Story:
    """The set of a case and its groups; passes are taken after each action, pods change by actions only."""

    def __init__(self, case: Json) -> None:
        lws = case["lws"]
        rolling = {"maxUnavailable": lws["max_unavailable"], "maxSurge": lws["max_surge"]}
        body = manifest(
            lws["replicas"],
            lws["size"],
            startupPolicy=lws["startup_policy"],
            networkConfig={"subdomainPolicy": lws["subdomain_policy"]},
            rolloutStrategy={"rollingUpdateConfiguration": {**rolling, "partition": lws["partition"]}},
        )
        body["spec"]["leaderWorkerTemplate"]["restartPolicy"] = lws["restart_policy"]
        if lws.get("exclusive_topology"):
            body["metadata"]["annotations"] = {labels.LWS_EXCLUSIVE_TOPOLOGY: lws["exclusive_topology"]}
        self.world = World(body, NOW)
        self.images = 1
        self.take()
        for index in range(lws["replicas"]):
            self.put(index, ready=False)
        self.take()
        self.first_revision = self.view.history.update

    @property
    def view(self) -> View:
        item, children = self.world.item, self.world.children()
        groups = observe(item.metadata.name, item.metadata.uid, children.pods)
        history = history_of(item, children.revisions, groups, "")
        return viewed(item, groups, line_of(item, groups), history, children, self.world.now)

    def take(self) -> None:
        """Passes until nothing but pods would change."""
        for _ in range(10):
            kept = [change for change in self.world.plan().changes if target_of(change).kind is not POD]
            if all(isinstance(change, Emit) for change in kept):
                return
            for change in kept:
                self.world.carry_out(change)

    def act(self, actions: Sequence[Json]) -> None:
        edits = ("set_replicas", "set_size", "set_partition", "change_worker_template")
        for place, action in enumerate(actions):
            ACTIONS[action["do"]](self, action)
            following = actions[place + 1]["do"] if place + 1 < len(actions) else ""
            if action["do"] not in edits or following not in edits:
                self.take()

    def put(self, index: int, *, ready: bool) -> None:
        """The group in the newest revision; without its workers where they wait for their leader."""
        self.drop(index)
        blueprint = self.view.history.newest
        bodies = [leader_pod(blueprint, index)]
        if ready or not blueprint.waits_for_leader:
            bodies += [worker_pod(blueprint, index, at) for at in range(1, blueprint.size)]
        for body in bodies:
            self.world.hold(POD, msgspec.convert(body, Pod))
        if ready:
            self.world.get_ready([body["metadata"]["name"] for body in bodies])

    def drop(self, index: int) -> None:
        for name in self.of_group(index):
            del self.world.held[POD, name]

    def of_group(self, index: int) -> list[str]:
        return [
            pod.metadata.name
            for pod in self.world.all(POD)
            if pod.metadata.label(labels.LWS_GROUP_INDEX) == str(index)
        ]

    def number(self, value: Any) -> int:
        """A count, or the words that a case uses for one."""
        if isinstance(value, int):
            return value
        name, _, more = str(value).partition("+")
        base = {"replicas": self.world.item.spec.replicas, "leader_set_replicas": self.view.moves.replicas}
        return base[name] + int(more or 0)

    def seen(self, name: str, expected: Any) -> Any:
        if name in COUNTS:
            return self.world.status.get(COUNTS[name], 0)
        if name == "conditions":
            return {kind: self.world.condition(kind) == "True" for kind in expected}
        if name == "events":
            return [told for told in expected if self._was_told(told)]
        return SEEN[name](self, expected)

    def _was_told(self, told: Json) -> bool:
        return told["reason"].strip('"') in self.world.events

    def revision_of(self, index: int) -> str:
        """Of the pods of a group that there are, or that a pass makes."""
        made = [change for change in self.world.plan().changes if isinstance(change, Create)]
        planned = [change.body["metadata"]["labels"] for change in made if change.target.kind is POD]
        there = [pod.metadata.labels or {} for pod in self.world.all(POD)]
        found = {
            one[labels.LWS_REVISION]
            for one in [*there, *planned]
            if one[labels.LWS_GROUP_INDEX] == str(index)
        }
        return found.pop() if len(found) == 1 else f"{len(found)} revisions"


def _edit(story: Story, patch: Json) -> None:
    story.world.edit({"spec": patch})


def _change_template(story: Story, _: Json) -> None:
    story.images += 1
    container = {"name": "app", "image": f"example/app:{story.images}"}
    _edit(story, {"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": [container]}}}})


def _set_partition(story: Story, action: Json) -> None:
    rolling = {"rollingUpdateConfiguration": {"partition": action["value"]}}
    _edit(story, {"rolloutStrategy": rolling})


def _groups_ready(story: Story, action: Json) -> None:
    for index in range(action["count"]):
        story.put(index, ready=True)


def _unready(story: Story, action: Json) -> None:
    name = story.of_group(action["group"])[-1]
    story.world.set_status(name, conditions=None)


def _creates(story: Story, action: Json) -> None:
    wanted = range(story.number(action["from"]), story.number(action["to"]))
    for change in story.world.plan().changes:
        if isinstance(change, Create) and change.target.kind is POD:
            marks = change.body["metadata"]["labels"]
            if marks[labels.LWS_WORKER_INDEX] == "0" and int(marks[labels.LWS_GROUP_INDEX]) in wanted:
                story.world.carry_out(change)


def _deletes(story: Story, action: Json) -> None:
    for index in range(story.number(action["from"]), story.number(action["to"])):
        story.drop(index)


def _deletes_beyond(story: Story, _: Json) -> None:
    for index in list(story.view.groups):
        if index >= story.view.moves.replicas:
            story.drop(index)


ACTIONS: dict[str, Callable[[Story, Json], None]] = {
    "set_replicas": lambda story, action: _edit(story, {"replicas": action["value"]}),
    "set_size": lambda story, action: _edit(story, {"leaderWorkerTemplate": {"size": action["value"]}}),
    "set_partition": _set_partition,
    "change_worker_template": _change_template,
    "set_groups_ready": _groups_ready,
    "set_group_ready": lambda story, action: story.put(action["group"], ready=True),
    "set_worker_set_unready": _unready,
    "recreate_group": lambda story, action: story.put(action["group"], ready=False),
    "statefulset_creates_leaders": _creates,
    "statefulset_creates_workers": lambda _, __: None,
    "statefulset_deletes_leaders": _deletes,
    "statefulset_deletes_leaders_beyond_replicas": _deletes_beyond,
}


def _matching(story: Story, _: Any) -> bool:
    update = story.view.history.update
    return all(story.revision_of(index) == update for index in range(story.world.item.spec.replicas))


def _exist(story: Story, expected: list[int]) -> list[int]:
    first, last = expected
    found = [len(story.of_group(index)) > 1 for index in range(first, last)]
    return expected if all(found) else [sum(found)]


SEEN: dict[str, Callable[[Story, Any], Any]] = {
    "leader_set_partition": lambda story, _: story.view.moves.partition,
    "leader_set_replicas": lambda story, _: story.view.moves.replicas,
    "revisions": lambda story, _: len(story.world.all(CONTROLLER_REVISION)),
    "headless_services": lambda story, _: len(story.world.all(SERVICE)),
    "worker_sets_match_current_revision": _matching,
    "worker_sets_exist": _exist,
    "worker_set_on_new_revision": lambda story, groups: [
        index for index in groups if story.revision_of(index) == story.view.history.update
    ],
    "worker_set_on_old_revision": lambda story, groups: [
        index for index in groups if story.revision_of(index) == story.first_revision
    ],
}
KNOWN = {*COUNTS, *SEEN, "conditions", "events"}
