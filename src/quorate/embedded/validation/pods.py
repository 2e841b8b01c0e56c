"""Rules of a pod and of what may change in one."""

from quorate.api.meta import Json
from quorate.embedded.causes import Cause, duplicate, forbidden, invalid, not_supported, required
from quorate.embedded.validation import names
from quorate.embedded.validation.containers import containers
from quorate.embedded.validation.metadata import annotations, labels
from quorate.embedded.validation.placement import placement, tolerations

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_INT32 = 2**31 - 1
_MAY_CHANGE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def pod(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    pod_spec(found, obj["spec"], "spec")
    return found


def template(owner: Json, path: str) -> list[Cause]:
    """The pod template of a workload's spec."""
    found: list[Cause] = []
    meta = owner["template"]["metadata"]
    labels(found, meta.get("labels") or {}, f"{path}.labels")
    annotations(found, meta.get("annotations") or {}, f"{path}.annotations")
    pod_spec(found, _with_claims(owner, owner["template"]["spec"]), f"{path}.spec")
    return found


def _with_claims(owner: Json, spec: Json) -> Json:
    """The claim templates of a StatefulSet are volumes of its pods, so containers may mount them."""
    templates = owner.get("volumeClaimTemplates")
    if not templates:
        return spec
    own = spec.get("volumes") or []
    taken = {volume.get("name") for volume in own}
    named = [name for claim in templates if (name := (claim.get("metadata") or {}).get("name"))]
    return {
        **spec,
        "volumes": [*own, *({"name": name, "emptyDir": {}} for name in named if name not in taken)],
    }


def pod_spec(found: list[Cause], spec: Json, path: str) -> None:
    if spec.get("volumes"):
        _volumes(found, spec["volumes"], f"{path}.volumes")
    containers(found, spec, path)
    _policies(found, spec, path)
    placement(found, spec, path)
    _references(found, spec, path)


def _policies(found: list[Cause], spec: Json, path: str) -> None:
    if spec["restartPolicy"] not in _RESTART_POLICIES:
        found.append(not_supported(f"{path}.restartPolicy", spec["restartPolicy"], _RESTART_POLICIES))
    if spec["dnsPolicy"] not in _DNS_POLICIES:
        found.append(not_supported(f"{path}.dnsPolicy", spec["dnsPolicy"], _DNS_POLICIES))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _INT32:
        detail = f"must be between 1 and {_INT32}, inclusive"
        found.append(invalid(f"{path}.activeDeadlineSeconds", deadline, detail))
    if spec["terminationGracePeriodSeconds"] < 0:
        detail = "must be greater than or equal to 0"
        found.append(
            invalid(f"{path}.terminationGracePeriodSeconds", spec["terminationGracePeriodSeconds"], detail)
        )
    if spec.get("schedulingGates") and spec.get("nodeName"):
        found.append(
            forbidden(f"{path}.nodeName", "cannot be set until all schedulingGates have been cleared")
        )


def _references(found: list[Cause], spec: Json, path: str) -> None:
    for field in ("serviceAccountName", "nodeName", "priorityClassName"):
        name = spec.get(field)
        if name and names.dns_subdomain(name):
            found += [invalid(f"{path}.{field}", name, message) for message in names.dns_subdomain(name)]
    for field in ("hostname", "subdomain"):
        name = spec.get(field)
        if name and names.dns_label(name):
            found += [invalid(f"{path}.{field}", name, message) for message in names.dns_label(name)]


def _volumes(found: list[Cause], volumes: list[Json], path: str) -> None:
    taken: set[str] = set()
    for index, volume in enumerate(volumes):
        where = f"{path}[{index}]"
        name = volume.get("name", "")
        if not name:
            found.append(required(f"{where}.name"))
        elif names.dns_label(name):
            found += [invalid(f"{where}.name", name, message) for message in names.dns_label(name)]
        if name in taken:
            found.append(duplicate(f"{where}.name", name))
        taken.add(name)
        claim = volume.get("persistentVolumeClaim")
        if claim is not None and not claim.get("claimName"):
            found.append(required(f"{where}.persistentVolumeClaim.claimName"))
        sources = [field for field in volume if field != "name"]
        found += [
            forbidden(f"{where}.{field}", "may not specify more than 1 volume type") for field in sources[1:]
        ]


def pod_update(new: Json, old: Json) -> list[Cause]:
    """What an update of a pod (not of its status) may not do; the new pod itself is checked as on create."""
    found: list[Cause] = []
    after, before = new["spec"], old["spec"]
    if after == before:
        return found
    for field in ("containers", "initContainers"):
        if len(after.get(field) or ()) != len(before.get(field) or ()):
            return [forbidden(f"spec.{field}", "pod updates may not add or remove containers")]
    _deadline_update(found, after.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds"))
    _toleration_update(found, after.get("tolerations") or [], before.get("tolerations") or [])
    _gate_update(found, after, before)
    if before.get("schedulingGates"):
        _gated_update(found, after, before)
    changed = sorted(_changed_fields(after, before, gated=bool(before.get("schedulingGates"))))
    if changed:
        listed = "\n".join(f"spec.{field}" for field in changed)
        found.append(forbidden("spec", f"{_MAY_CHANGE}\n{listed}\n"))
    return found


def _deadline_update(found: list[Cause], after: int | None, before: int | None) -> None:
    path = "spec.activeDeadlineSeconds"
    if before is None:
        return
    if after is None:
        found.append(invalid(path, None, "must not update from a positive integer to nil value"))
    elif after > before:
        found.append(invalid(path, after, "must be less than or equal to previous value"))


def _toleration_update(found: list[Cause], after: list[Json], before: list[Json]) -> None:
    def timeless(toleration: Json) -> Json:
        return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}

    kept = [timeless(toleration) for toleration in after]
    if any(timeless(toleration) not in kept for toleration in before):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        found.append(forbidden("spec.tolerations", detail))
    tolerations(found, after, "spec.tolerations")


def _gate_update(found: list[Cause], after: Json, before: Json) -> None:
    known = {gate["name"] for gate in before.get("schedulingGates") or ()}
    for index, gate in enumerate(after.get("schedulingGates") or ()):
        if gate.get("name") not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            found.append(forbidden(f"spec.schedulingGates[{index}].name", detail))


def _gated_update(found: list[Cause], after: Json, before: Json) -> None:
    wanted = after.get("nodeSelector") or {}
    if any(wanted.get(key) != value for key, value in (before.get("nodeSelector") or {}).items()):
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        found.append(invalid("spec.nodeSelector", wanted, detail))


def _changed_fields(after: Json, before: Json, *, gated: bool) -> set[str]:
    """The fields that differ although they may not."""
    free = {"activeDeadlineSeconds", "tolerations", "schedulingGates"}
    if gated:
        free |= {"nodeSelector"}
    if before["terminationGracePeriodSeconds"] < 0 and after.get("terminationGracePeriodSeconds") == 1:
        free |= {"terminationGracePeriodSeconds"}
    changed: set[str] = set()
    for field in (after.keys() | before.keys()) - free:
        new, old = after.get(field), before.get(field)
        if field in {"containers", "initContainers"}:
            new, old = [_imageless(one) for one in new or ()], [_imageless(one) for one in old or ()]
        elif field == "affinity" and gated:
            new, old = _without_node_affinity(new), _without_node_affinity(old)
        if new != old:
            changed.add(field)
    return changed


def _imageless(container: Json) -> Json:
    return {key: value for key, value in container.items() if key != "image"}


def _without_node_affinity(affinity: Json | None) -> Json:
    return {key: value for key, value in (affinity or {}).items() if key != "nodeAffinity"}
