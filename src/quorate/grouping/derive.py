"""The fields that every kind of workload shares: queue, priority, preemptibility, delays and metadata.

Values come from the owner or from the pods. Pods of one gang that disagree are read in the order of their
names, so that the answer does not depend on which pod was seen last; the disagreement is a warning.
"""

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import yaml

from quorate.api import duration, labels
from quorate.api.core import Pod
from quorate.grouping.objects import Owner
from quorate.grouping.subject import Context, Shape
from quorate.rules.preemptibility import DEFAULT_PRIORITY, Claim, resolve

# Written on workloads by tools that own them there; on a PodGroup they would make the tools own that too.
TOOL_KEYS = re.compile(
    r"(kubectl\.kubernetes\.io|deployment\.kubernetes\.io|meta\.helm\.sh|argocd\.argoproj\.io"
    r"|[a-z]+\.toolkit\.fluxcd\.io|config\.kubernetes\.io)/.*"
)
OWN_KEYS = frozenset({labels.POD_GROUP_NAME, labels.SUB_GROUP_NAME})


@dataclass(frozen=True, slots=True)
class Derived:
    """The shared fields of one PodGroup, with what is wrong in the workload."""

    queue: str
    priority: str
    preemptibility: str
    preemption_delay: str
    staleness_grace_period: str
    labels: dict[str, str]
    annotations: dict[str, str]
    warnings: tuple[str, ...]


def derive(shape: Shape, pods: tuple[Pod, ...], context: Context) -> Derived:
    warnings: list[str] = []
    first = _FirstPod(pods, warnings)
    protected = _preemptibility(shape, first, context, warnings)
    return Derived(
        queue=_queue(shape, first, context),
        priority=shape.priority or _priority(shape, first, context, warnings),
        preemptibility=protected.value,
        preemption_delay=_delay(shape, first, labels.PREEMPTION_DELAY, warnings),
        staleness_grace_period=_delay(shape, first, labels.STALENESS_GRACE_PERIOD, warnings),
        labels={
            **_labels(shape.source, first, context),
            **({labels.COMPOSITE_GROUP: shape.composite} if shape.composite else {}),
        },
        annotations={
            **_annotations(shape, first),
            **({labels.PREEMPTIBILITY_FROM: protected.where} if protected.value else {}),
        },
        warnings=tuple(warnings),
    )


class _FirstPod:
    """What pods say, first by name; a pod that says something else is a warning."""

    def __init__(self, pods: tuple[Pod, ...], warnings: list[str]) -> None:
        self._pods = pods
        self._warnings = warnings

    def label(self, key: str) -> str:
        return self._of(f"label {key}", lambda pod: pod.metadata.label(key))

    def annotation(self, key: str) -> str:
        return self._of(f"annotation {key}", lambda pod: pod.metadata.annotation(key))

    @property
    def priority_class(self) -> str:
        return self._of("spec.priorityClassName", lambda pod: pod.spec.priority_class_name)

    def _of(self, field: str, read: Callable[[Pod], str]) -> str:
        said = [(read(pod), pod.metadata.name) for pod in self._pods]
        value, name = next((found for found in said if found[0]), ("", ""))
        other = next((found for found in said if found[0] != value), None)
        if value and other:
            self._warnings.append(
                f"pods of one gang disagree on {field}: {name} says {value!r}, {other[1]} says {other[0]!r}; "
                f"{value!r} is used: give all pods the same value, or set it on their owner"
            )
        return value


def _queue(shape: Shape, first: _FirstPod, context: Context) -> str:
    owner, settings = shape.source, context.settings
    named = owner.labels.get(settings.queue_label) or first.label(settings.queue_label)
    if named:
        return named
    project = owner.labels.get(labels.PROJECT) or first.label(labels.PROJECT)
    pool = first.label(settings.node_pool_label)
    if project:
        return f"{project}-{pool}" if pool else project
    return shape.asked_queue or settings.default_queue


def _priority(shape: Shape, first: _FirstPod, context: Context, warnings: list[str]) -> str:
    """What owners ask for, then pods, then the kind's defaults; a name without a class hides no other."""
    asked = [(owner.labels.get(labels.PRIORITY_CLASS, ""), f"label of {owner}") for owner in shape.chain]
    asked += [(shape.asked_priority, f"spec of {shape.owner}")]
    asked += [(first.label(labels.PRIORITY_CLASS), "label of the pods")]
    asked += [(first.priority_class, "spec.priorityClassName of the pods")]
    asked += [(name, "defaults ConfigMap") for name in context.defaults.priorities(shape.chain)]
    for name, where in asked:
        if name in context.priority_classes:
            return name
        if name:
            warnings.append(f"{where}: PriorityClass {name!r} does not exist; create it or correct the name")
    return shape.asked_priority or shape.default_priority


def _preemptibility(shape: Shape, first: _FirstPod, context: Context, warnings: list[str]) -> Claim:
    """What owners ask for, top down, then pods, then the kind's default; empty: the priority decides."""
    claims = [
        Claim(f"label on {owner}", owner.labels.get(labels.PREEMPTIBILITY, ""))
        for owner in reversed(shape.chain)
    ]
    claims += [
        Claim("label on the pods", first.label(labels.PREEMPTIBILITY)),
        Claim("defaults of the kind", context.defaults.preemptibility(shape.chain)),
    ]
    resolved = resolve(claims, DEFAULT_PRIORITY)
    warnings.extend(resolved.warnings)
    return next((claim for claim in claims if claim.where == resolved.source), Claim("priority", ""))


def _delay(shape: Shape, first: _FirstPod, key: str, warnings: list[str]) -> str:
    """A duration in Go's own form, from the owners nearest first, then from the pods."""
    asked = [*(owner.annotations.get(key, "") for owner in shape.chain), first.annotation(key)]
    for text in filter(None, asked):
        try:
            value = duration.seconds(text)
        except duration.DurationError as error:
            warnings.append(f"annotation {key}: {error}")
            continue
        if value >= 0 or key == labels.STALENESS_GRACE_PERIOD:
            return go_duration(value)
        warnings.append(f"annotation {key}: {text} is negative; it is not used")
    return ""


def go_duration(seconds: float) -> str:
    """As Go prints a duration: `1m30s`, `-1s`, `1h0m0s`, `500ms`."""
    nanoseconds = round(abs(seconds) * 1e9)
    sign = "-" if seconds < 0 else ""
    if 0 < nanoseconds < 1_000_000_000:
        size, unit = next(s for s in ((1_000_000, "ms"), (1_000, "µs"), (1, "ns")) if nanoseconds >= s[0])
        return f"{sign}{nanoseconds / size:.9g}{unit}"
    minutes, rest = divmod(nanoseconds, 60_000_000_000)
    hours, minutes = divmod(minutes, 60)
    tail = f"{rest / 1e9:.11g}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{tail}"
    return f"{sign}{minutes}m{tail}" if minutes else f"{sign}{tail}"


def _labels(owner: Owner, first: _FirstPod, context: Context) -> dict[str, str]:
    found = _own(owner.labels.items())
    extra = {labels.USER: first.label(labels.USER)}
    pool = context.settings.node_pool_label
    if pool not in found:
        extra[pool] = first.label(pool)
    return {**{key: value for key, value in extra.items() if value}, **found}


def _annotations(shape: Shape, first: _FirstPod) -> dict[str, str]:
    found = _own(shape.source.annotations.items())
    user = first.annotation(labels.USER)
    return {
        **({labels.USER: user} if user else {}),
        **found,
        labels.TOP_OWNER_METADATA: _top_owner(shape.described),
    }


def _own(items: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {key: value for key, value in items if key not in OWN_KEYS and not TOOL_KEYS.fullmatch(key)}


def _top_owner(owner: Owner) -> str:
    group, _, version = owner.api_version.rpartition("/")
    fields = (
        ("name", owner.name),
        ("uid", owner.uid),
        ("group", group),
        ("version", version),
        ("kind", owner.kind),
    )
    return "".join(f"{key}: {_yaml(value)}\n" for key, value in fields)


@functools.lru_cache(maxsize=4096)  # versions and kinds repeat, and a YAML parser is slow
def _yaml(text: str) -> str:
    """A YAML scalar that reads back as this text, quoted only where it must be."""
    try:
        is_plain = yaml.safe_load(text) == text
    except yaml.YAMLError:
        is_plain = False
    return text if is_plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
