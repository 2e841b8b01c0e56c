"""Facts about what RoleBasedGroups are admitted, and in which order their roles start."""

from typing import Any

import msgspec

from quorate.admission.rbg import review, rollout_faults
from quorate.api.rbg import RoleBasedGroup, RollingUpdate
from quorate.rules.dependencies import DependencyError, levels
from tests.cases.deviations import Mismatch, explain
from tests.cases.outcome import Outcome, deviating, failed, passed, unsupported

Json = dict[str, Any]


def run(case: Json, file: Json) -> Outcome:
    del file
    operations = {
        "validate_group_name": lambda given: _reviewed({}, name=given["name"]),
        "validate_rolling_update": _rolled,
        "validate_role_templates": _templated,
        "dependency_levels": _ordered,
    }
    operation = operations.get(case["op"])
    if operation is None:
        return unsupported(f"RoleBasedGroup {case['op']}")
    got, want = operation(case["input"]), case["expect"]
    if _agrees(got, want):
        return passed(got)
    reason = explain(Mismatch(f"rbg_{case['op']}", case, want, got))
    return deviating(reason) if reason else failed(f"expected {want}, got {got}", got)


def _agrees(got: Json, want: Json) -> bool:
    is_circle = (want.get("error") == "cycle") == (got.get("error") == "cycle")
    text = want.get("messageContains", "")
    same = all(got.get(key) == want[key] for key in want if key not in {"messageContains", "error"})
    return same and is_circle and ("error" in want) == ("error" in got) and text in got["message"]


def _verdict(messages: list[str]) -> Json:
    return {"ok": not messages, "message": "; ".join(messages)}


def _reviewed(spec: Json, *, name: str = "g") -> Json:
    plain: Json = {"name": "r", "template": {"spec": {"containers": [{"name": "c"}]}}}
    wire = {"metadata": {"name": name}, "spec": {"roles": [plain], **spec}}
    found = review(msgspec.convert(wire, RoleBasedGroup))
    return _verdict([str(fault) for fault in found.errors])


def _rolled(given: Json) -> Json:
    wire = {name: value for name, value in given.items() if name != "replicas" and value is not None}
    rolling = msgspec.convert(wire, RollingUpdate)
    return _verdict([fault.message for fault in rollout_faults("rollingUpdate", rolling, given["replicas"])])


def _templated(given: Json) -> Json:
    templates = [
        {"name": each["name"], "template": {"spec": {"containers": [{"name": "c"}] * each["containers"]}}}
        for each in given["templates"]
    ]
    spec: Json = {"roleTemplates": templates}
    role = given.get("role") or {}
    if "templateRef" in role:
        reference = {"name": role["templateRef"], "patch": role.get("patch")}
        spec["roles"] = [{"name": "r", "standalonePattern": {"templateRef": reference}}]
    return _reviewed(spec)


def _ordered(given: Json) -> Json:
    try:
        return {"levels": levels(given["dependencies"]), "message": ""}
    except DependencyError as error:
        cause = "cycle" if "cycle" in str(error) else "unknown"
        return {"error": cause, "message": str(error)}
