"""Which CustomResourceDefinitions are refused, with the words of the real server."""

from quorate.api.meta import Json
from quorate.embedded import causes, customkind
from quorate.embedded.causes import Cause
from quorate.embedded.validation import names

GROUP, PLURAL = "apiextensions.k8s.io", "customresourcedefinitions"
_SCOPES = ("Cluster", "Namespaced")
_COLUMN_TYPES = "must be one of boolean,date,integer,number,string"
_COLUMN_FORMATS = "must be one of byte,date,date-time,double,float,int32,int64,password"
_MIXED_CASE = "may have mixed case, but should otherwise match: "


def check_definition(definition: Json) -> list[Cause]:
    spec = definition["spec"]
    found = _check_name(definition) + _check_group(spec)
    scope = spec.get("scope", "")
    if not scope:
        found.append(causes.required("spec.scope"))
    elif scope not in _SCOPES:
        found.append(causes.not_supported("spec.scope", scope, _SCOPES))
    return found + _check_versions(spec) + _check_names(spec["names"])


def check_change(new: Json, old: Json) -> list[Cause]:
    """What may not change once a definition serves, besides being right in itself."""
    found = check_definition(new)
    for field in ("group", "scope"):
        if new["spec"].get(field) != old["spec"].get(field):
            found.append(causes.invalid(f"spec.{field}", new["spec"].get(field), "field is immutable"))
    for field in ("kind", "plural"):
        if new["spec"]["names"].get(field) != old["spec"]["names"].get(field):
            found.append(
                causes.invalid(f"spec.names.{field}", new["spec"]["names"].get(field), "field is immutable")
            )
    listed = {version["name"] for version in new["spec"].get("versions") or ()}
    for index, version in enumerate((old.get("status") or {}).get("storedVersions") or ()):
        if version not in listed:
            why = "missing from spec.versions; "
            why += f"{version} was previously a storage version, and must remain in spec.versions until a "
            why += f"storage migration ensures no data remains persisted in {version} and removes {version} "
            why += "from status.storedVersions"
            found.append(causes.invalid(f"status.storedVersions[{index}]", version, why))
    return found


def _check_name(definition: Json) -> list[Cause]:
    name, spec = definition["metadata"].get("name", ""), definition["spec"]
    if name == f"{spec['names'].get('plural', '')}.{spec.get('group', '')}":
        return []
    return [causes.invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')]


def _check_group(spec: Json) -> list[Cause]:
    group = spec.get("group", "")
    if not group:
        return [causes.required("spec.group")]
    if refused := names.dns_subdomain(group):
        return [causes.invalid("spec.group", group, ",".join(refused))]
    if "." not in group:
        return [causes.invalid("spec.group", group, "should be a domain with at least one dot")]
    return []


def _check_versions(spec: Json) -> list[Cause]:
    found: list[Cause] = []
    versions = spec.get("versions") or []
    for index, version in enumerate(versions):
        path = f"spec.versions[{index}]"
        if refused := names.dns_1035_label(version["name"]):
            found.append(causes.invalid(f"{path}.name", version["name"], ",".join(refused)))
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if not schema:
            found.append(causes.required(f"{path}.schema.openAPIV3Schema"))
        else:
            # A single version is checked as the whole definition's, and reported there.
            where = (
                f"{path}.schema.openAPIV3Schema" if len(versions) > 1 else "spec.validation.openAPIV3Schema"
            )
            found += customkind.schema_problems(schema, where)
        found += _check_scale(version, f"{path}.subresources.scale")
        found += _check_columns(version, path if len(versions) > 1 else "spec")
    if len({version["name"] for version in versions}) != len(versions):
        found.append(causes.invalid("spec.versions", versions, "must contain unique version names"))
    if sum(1 for version in versions if version.get("storage")) != 1:
        why = "must have exactly one version marked as storage version"
        found.append(causes.invalid("spec.versions", versions, why))
        if not any(version.get("storage") for version in versions):
            why = "must have at least one stored version"
            found.append(causes.invalid("status.storedVersions", None, why))
    return found


def _check_scale(version: Json, path: str) -> list[Cause]:
    scale = (version.get("subresources") or {}).get("scale")
    if scale is None:
        return []
    found: list[Cause] = []
    for field, root in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        value = scale.get(field, "")
        if not value:
            found.append(causes.required(f"{path}.{field}"))
        elif not value.startswith(root):
            found.append(
                causes.invalid(f"{path}.{field}", value, f"should be a json path under {root.rstrip('.')}")
            )
    selector = scale.get("labelSelectorPath", "")
    if selector and not selector.startswith((".status.", ".spec.")):
        why = "should be a json path under either .spec or .status"
        found.append(causes.invalid(f"{path}.labelSelectorPath", selector, why))
    return found


def _check_columns(version: Json, path: str) -> list[Cause]:
    found: list[Cause] = []
    for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
        where = f"{path}.additionalPrinterColumns[{index}]"
        type_, format_, shown = (column.get(field, "") for field in ("type", "format", "jsonPath"))
        if not column.get("name"):
            found.append(causes.required(f"{where}.name"))
        if not type_:
            found.append(causes.required(f"{where}.type", _COLUMN_TYPES))
        elif type_ not in _COLUMN_TYPES.rpartition(" ")[2].split(","):
            found.append(causes.invalid(f"{where}.type", type_, _COLUMN_TYPES))
        if format_ and format_ not in _COLUMN_FORMATS.rpartition(" ")[2].split(","):
            found.append(causes.invalid(f"{where}.format", format_, _COLUMN_FORMATS))
        if not shown:
            found.append(causes.required(f"{where}.JSONPath"))
        elif not shown.startswith("."):
            found.append(
                causes.invalid(f"{where}.JSONPath", shown, "must be a simple json path starting with .")
            )
    return found


def _check_names(given: Json) -> list[Cause]:
    found = [
        causes.required(f"spec.names.{field}")
        for field in ("plural", "singular", "kind", "listKind")
        if not given.get(field)
    ]
    for field in ("plural", "singular", "kind", "listKind"):
        value = given.get(field, "")
        refused = (
            names.dns_1035_label(value.lower() if field.lower().endswith("kind") else value) if value else ()
        )
        if refused:
            prefix = _MIXED_CASE if field.lower().endswith("kind") else ""
            found.append(causes.invalid(f"spec.names.{field}", value, prefix + ",".join(refused)))
    for field in ("shortNames", "categories"):
        for index, value in enumerate(given.get(field) or ()):
            if refused := names.dns_1035_label(value):
                found.append(causes.invalid(f"spec.names.{field}[{index}]", value, ",".join(refused)))
    if given.get("kind") and given.get("kind") == given.get("listKind"):
        why = "kind and listKind may not be the same"
        found.append(causes.invalid("spec.names.listKind", given["listKind"], why))
    return found
