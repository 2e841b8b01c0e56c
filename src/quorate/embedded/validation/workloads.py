"""Rules of the kinds that make pods: selectors that match their templates, counts, what may change."""

import re

from quorate.api.meta import Json
from quorate.embedded.causes import Cause, forbidden, invalid, not_supported, required
from quorate.embedded.validation.labelselectors import is_empty, label_selector, selects
from quorate.embedded.validation.metadata import unchanged
from quorate.embedded.validation.pods import template

NEGATIVE = "must be greater than or equal to 0"
_MISMATCH = "`selector` does not match template `labels`"
_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)
_STATEFUL_SET_MAY_CHANGE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
_COUNTS = ("replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")


def counts(found: list[Cause], spec: Json, *fields: str, path: str = "spec") -> None:
    for field in fields:
        number = spec.get(field)
        if number is not None and number < 0:
            found.append(invalid(f"{path}.{field}", number, NEGATIVE))


def int_or_percent(found: list[Cause], value: int | str | None, path: str) -> None:
    if isinstance(value, str):
        if not re.fullmatch("[0-9]+%", value):
            found.append(invalid(path, value, _PERCENT))
    elif value is not None and value < 0:
        found.append(invalid(path, value, NEGATIVE))


def at_most_all(found: list[Cause], value: int | str | None, path: str) -> None:
    if isinstance(value, str) and re.fullmatch("[0-9]+%", value) and int(value[:-1]) > 100:
        found.append(invalid(path, value, "must not be greater than 100%"))


def _strategy(found: list[Cause], spec: Json, field: str, supported: tuple[str, ...]) -> None:
    """The type of a strategy; the value is shown as Go shows it, by the names of its own fields."""
    kind = spec[field]["type"]
    if kind not in supported:
        shown = {"Type": kind, "RollingUpdate": spec[field].get("rollingUpdate")}
        found.append(not_supported(f"spec.{field}", shown, supported))


def _selector_and_template(found: list[Cause], spec: Json, kind: str) -> None:
    selector = spec.get("selector")
    if selector is None:
        found.append(required("spec.selector"))
        # No selector matches nothing.
        found.append(_mismatch(spec))
    else:
        broken = label_selector(selector, "spec.selector")
        found += broken
        if is_empty(selector):
            detail = f"empty selector is invalid for {kind}"
            found.append(invalid("spec.selector", selector, detail))
        elif not broken and not selects(selector, _template_labels(spec)):
            found.append(_mismatch(spec))
    found += template(spec, "spec.template")
    policy = spec["template"]["spec"]["restartPolicy"]
    if policy != "Always":
        found.append(not_supported("spec.template.spec.restartPolicy", policy, ("Always",)))


def _template_labels(spec: Json) -> Json:
    return spec["template"]["metadata"].get("labels") or {}


def _mismatch(spec: Json) -> Cause:
    return invalid("spec.template.metadata.labels", _template_labels(spec) or None, _MISMATCH)


def deployment(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    spec = obj["spec"]
    counts(found, spec, *_COUNTS)
    _selector_and_template(found, spec, "deployment")
    _strategy(found, spec, "strategy", ("Recreate", "RollingUpdate"))
    _deployment_strategy(found, spec["strategy"])
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= (spec.get("minReadySeconds") or 0):
        found.append(
            invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")
        )
    return found


def _deployment_strategy(found: list[Cause], strategy: Json) -> None:
    path = "spec.strategy"
    rolling: Json = strategy.get("rollingUpdate") or {}
    if strategy["type"] == "Recreate":
        if rolling:
            detail = "may not be specified when strategy `type` is 'Recreate'"
            found.append(forbidden(f"{path}.rollingUpdate", detail))
    elif strategy["type"] == "RollingUpdate":
        surge, unavailable = rolling["maxSurge"], rolling["maxUnavailable"]
        int_or_percent(found, unavailable, f"{path}.rollingUpdate.maxUnavailable")
        int_or_percent(found, surge, f"{path}.rollingUpdate.maxSurge")
        at_most_all(found, unavailable, f"{path}.rollingUpdate.maxUnavailable")
        if {surge, unavailable} <= {0, "0%"}:
            detail = "may not be 0 when `maxSurge` is 0"
            found.append(invalid(f"{path}.rollingUpdate.maxUnavailable", unavailable, detail))


def pod_template(obj: Json) -> list[Cause]:
    return template(obj, "template")


def replica_set(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    counts(found, obj["spec"], *_COUNTS)
    _selector_and_template(found, obj["spec"], "deployment")
    return found


def daemon_set(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    counts(found, obj["spec"], *_COUNTS)
    _selector_and_template(found, obj["spec"], "daemonset")
    _strategy(found, obj["spec"], "updateStrategy", ("RollingUpdate", "OnDelete"))
    return found


def stateful_set(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    spec = obj["spec"]
    if spec["podManagementPolicy"] not in {"OrderedReady", "Parallel"}:
        detail = "must be 'OrderedReady' or 'Parallel'"
        found.append(invalid("spec.podManagementPolicy", spec["podManagementPolicy"], detail))
    strategy = spec["updateStrategy"]
    rolling = strategy.get("rollingUpdate")
    if strategy["type"] not in {"RollingUpdate", "OnDelete"}:
        shown = {"Type": strategy["type"], "RollingUpdate": rolling}
        found.append(invalid("spec.updateStrategy", shown, "must be 'RollingUpdate' or 'OnDelete'"))
    counts(found, rolling or {}, "partition", path="spec.updateStrategy.rollingUpdate")
    unavailable = (rolling or {}).get("maxUnavailable")
    int_or_percent(found, unavailable, "spec.updateStrategy.rollingUpdate.maxUnavailable")
    counts(found, spec, *_COUNTS)
    counts(found, spec.get("ordinals") or {}, "start", path="spec.ordinals")
    _selector_and_template(found, spec, "statefulset")
    return found


def selector_update(new: Json, old: Json) -> list[Cause]:
    """Deployments, ReplicaSets and DaemonSets keep their selector."""
    found: list[Cause] = []
    unchanged(found, new["spec"], old["spec"], "spec", "selector")
    return found


def stateful_set_update(new: Json, old: Json) -> list[Cause]:
    def fixed(spec: Json) -> Json:
        return {field: value for field, value in spec.items() if field not in _STATEFUL_SET_MAY_CHANGE}

    if fixed(new["spec"]) == fixed(old["spec"]):
        return []
    *most, last = (f"'{field}'" for field in _STATEFUL_SET_MAY_CHANGE)
    listed = f"{', '.join(most)} and {last}"
    return [forbidden("spec", f"updates to statefulset spec for fields other than {listed} are forbidden")]
