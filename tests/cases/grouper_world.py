"""A small world of objects in which the grouper's plans are carried out as an API server would."""

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from quorate.api import labels
from quorate.api.core import Pod
from quorate.api.podgroup import PodGroup
from quorate.grouping import grouper as core
from quorate.grouping import writes
from quorate.grouping.defaults import KEY, KindDefaults, parse_defaults
from quorate.grouping.errors import GroupingError
from quorate.grouping.objects import Unreadable, group_of
from quorate.grouping.owners import walk
from quorate.grouping.subject import Context, Settings
from quorate.plan import Apply, Patch

Json = dict[str, Any]
Key = tuple[str, str, str, str]


@dataclass
class Done:
    """What one step wrote and what it was refused for."""

    writes: Counter[str] = field(default_factory=Counter)
    error: str = ""


class Readable(Mapping[Key, Json | Unreadable]):
    """Every object there is; kinds that may not be read are forbidden, everything else is absent."""

    def __init__(self, objects: dict[Key, Json], forbidden: frozenset[tuple[str, str]]) -> None:
        self._objects = objects
        self._forbidden = forbidden

    def __getitem__(self, key: Key) -> Json | Unreadable:
        if key[:2] in self._forbidden:
            return Unreadable.FORBIDDEN
        group, kind, _, name = key
        return self._objects.get(key) or self._objects.get((group, kind, "", name)) or Unreadable.ABSENT

    def __iter__(self) -> Iterator[Key]:
        return iter(self._objects)

    def __len__(self) -> int:
        return len(self._objects)


class World:
    def __init__(self, objects: Iterable[Json], config: Json, forbidden: Iterable[str]) -> None:
        self._objects: dict[Key, Json] = {}
        self._applied: dict[Key, Json] = {}
        self._seen: set[str] = set()
        self._config = config
        self._forbidden = frozenset(_group_kind(name) for name in forbidden)
        for found in objects:
            self._objects[_key(found)] = copy.deepcopy(found)

    def step(self, step: Json) -> Done:
        match step["op"]:
            case "reconcile":
                return self._reconcile(*step["pod"].split("/"))
            case "apply":
                self._objects[_key(step["object"])] = copy.deepcopy(step["object"])
            case "merge":
                key = _key(step["object"])
                self._objects[key] = _merged(self._objects[key], step["object"])
            case "delete":
                del self._objects[_key(step["object"])]
            case other:
                raise AssertionError(f"unknown step {other!r}")
        return Done()

    def context(self, *schedulers: str) -> Context:
        settings = Settings(
            scheduler_names=frozenset({*schedulers, self._config.get("schedulerName") or "kai-scheduler"}),
            queue_label=self._config.get("queueLabelKey") or labels.QUEUE,
            node_pool_label=self._config.get("nodePoolLabelKey") or labels.NODE_POOL,
            knative_gangs=self._config.get("knativeGangSchedule", True),
        )
        classes = frozenset(
            name for group, kind, _, name in self._objects if kind == "PriorityClass" and group
        )
        return Context(Readable(self._objects, self._forbidden), classes, settings, self._defaults())

    def pods(self) -> list[Pod]:
        return [_pod(found) for key, found in self._objects.items() if key[:2] == ("", "Pod")]

    def pod_groups(self) -> list[Json]:
        return [found for key, found in self._objects.items() if key[1] == "PodGroup"]

    def memberships(self) -> Json:
        return {
            pod.metadata.key: {
                "podGroup": pod.metadata.annotation(labels.POD_GROUP_NAME) or None,
                "subGroup": pod.metadata.label(labels.SUB_GROUP_NAME) or None,
            }
            for pod in self.pods()
        }

    def _defaults(self) -> KindDefaults:
        name = self._config.get("defaultsConfigMapName")
        if not name:
            return KindDefaults()
        found = self._objects.get(("", "ConfigMap", self._config["defaultsConfigMapNamespace"], name), {})
        text = (found.get("data") or {}).get(KEY)
        return parse_defaults(text) if text else KindDefaults()

    def _reconcile(self, namespace: str, name: str) -> Done:
        """What the controller does for one pod: group its workload, write its gang and its own membership."""
        pod = _pod(self._objects["", "Pod", namespace, name])
        self._seen.add(pod.metadata.key)
        context = self.context()
        shown, beside = self._workload(pod, context)
        grouping = core.group(shown, context, beside)
        done = Done()
        for warned in grouping.warnings:
            if warned.is_refusal and warned.pod.metadata.name == name:
                done.error = warned.message
        for gang in grouping.gangs:
            mine = [member for member in gang.members if member[0].metadata.name == name]
            if mine:
                self._carry_out(gang, mine, context.settings, done)
        return done

    def _workload(self, pod: Pod, context: Context) -> tuple[list[Pod], tuple[Pod, ...]]:
        """The pods with the same top owner: those the controller was shown so far, and the others."""
        top = _top(pod, context)
        siblings = [f for f in self.pods() if f.metadata.key == pod.metadata.key or _top(f, context) == top]
        shown = [found for found in siblings if found.metadata.key in self._seen]
        return shown, tuple(found for found in siblings if found.metadata.key not in self._seen)

    def _carry_out(
        self, gang: core.Gang, mine: list[tuple[Pod, str]], settings: Settings, done: Done
    ) -> None:
        key = ("scheduling.run.ai", "PodGroup", gang.namespace, gang.name)
        found = self._objects.get(key)
        typed = msgspec.convert(found, PodGroup) if found else None
        for change in writes.gang_changes(gang, typed, settings):
            assert isinstance(change, Apply | Patch)
            done.writes["update PodGroup" if found else "create PodGroup"] += 1
            if isinstance(change, Patch):
                self._objects[key] = _merged(found, change.body)
                continue
            remains = _without(found or {}, self._applied.get(key, {}), change.body)
            self._objects[key] = _merged(remains, change.body)
            self._applied[key] = change.body
        for member in writes.member_changes(core.Gang(gang.name, gang.namespace, gang.body, tuple(mine))):
            assert isinstance(member, Patch)
            done.writes["patch Pod"] += 1
            pod_key = ("", "Pod", member.target.namespace, member.target.name)
            self._objects[pod_key] = _merged(self._objects[pod_key], member.body)


def _top(pod: Pod, context: Context) -> str:
    try:
        top = walk(pod, context.objects).top
    except GroupingError:
        return f"pod {pod.metadata.uid}"
    return top.uid if top else pod.metadata.uid


def _pod(found: Json) -> Pod:
    return msgspec.convert(found, Pod)


def _key(found: Json) -> Key:
    meta = found["metadata"]
    return (
        group_of(found.get("apiVersion", "")),
        found.get("kind", ""),
        meta.get("namespace", ""),
        meta.get("name", ""),
    )


def _group_kind(name: str) -> tuple[str, str]:
    group, _, kind = name.rpartition("/")
    return group, kind


def _merged(found: Any, patch: Any) -> Any:
    """JSON merge patch."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(found) if isinstance(found, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = _merged(result.get(name), value)
    return result


def _without(found: Json, before: Json, now: Json) -> Json:
    """What remains of an object when the applier no longer names fields that it named before."""
    remains = {}
    for name, value in found.items():
        if name in before and name not in now:
            continue
        is_nested = all(isinstance(tree.get(name), dict) for tree in (found, before, now))
        remains[name] = _without(value, before[name], now[name]) if is_nested else value
    return remains
