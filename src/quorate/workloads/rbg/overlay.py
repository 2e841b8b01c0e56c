"""Strategic merge of a patch into a pod template, as `templateRef.patch` and `leaderTemplatePatch` mean it.

Lists of the kinds below merge item by item under their key; every other list is replaced. `null` removes a field,
`$patch: delete` an item, `$patch: replace` what was there before.
"""

from typing import Any

from quorate.api.meta import Json

_DIRECTIVE = "$patch"
_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "env": "name",
    "volumes": "name",
    "imagePullSecrets": "name",
    "ports": "containerPort",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "resourceClaims": "name",
    "schedulingGates": "name",
}


def merged(base: Json, patch: Json | None) -> Json:
    """The base after the patch; neither is changed."""
    if not patch:
        return base
    if patch.get(_DIRECTIVE) == "replace":
        return {name: value for name, value in patch.items() if name != _DIRECTIVE}
    result = dict(base)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = _field(name, base.get(name), value)
    return result


def _field(name: str, before: Any, value: Any) -> Any:
    if isinstance(value, dict):
        return merged(before if isinstance(before, dict) else {}, value)
    key = _KEYS.get(name)
    if key is None or not isinstance(value, list) or not isinstance(before, list):
        return value
    return _items(before, value, key)


def _items(before: list[Json], patches: list[Json], key: str) -> list[Json]:
    if any(item == {_DIRECTIVE: "replace"} for item in patches):
        return [item for item in patches if _DIRECTIVE not in item]
    items = {item.get(key): item for item in before}
    for patch in patches:
        at = patch.get(key)
        if patch.get(_DIRECTIVE) == "delete":
            items.pop(at, None)
        else:
            items[at] = merged(items.get(at, {}), patch)
    return list(items.values())
