"""Discovery: built-in resources, and the documents under /api and /apis, which the server serves as they are.

Both forms are made from the same resources: the legacy one, a document per group-version, and the aggregated
one (apidiscovery.k8s.io/v2), one document for all.
"""

import base64
import hashlib
from collections.abc import Iterable
from functools import cache

from quorate.api.meta import Json
from quorate.embedded import data
from quorate.embedded.registry import Resource, Subresource


@cache
def builtin_resources() -> tuple[Resource, ...]:
    """Every built-in resource, in the order of the group-versions' preference."""
    return tuple(_resource(entry, row) for entry in data.group_versions() for row in entry["resources"])


def _resource(entry: Json, row: Json) -> Resource:
    return Resource(
        group=entry["group"],
        version=entry["version"],
        kind=row["kind"],
        plural=row["name"],
        singular=row["singularName"],
        namespaced=row["namespaced"],
        verbs=tuple(row["verbs"]),
        short_names=tuple(row.get("shortNames", ())),
        categories=tuple(row.get("categories", ())),
        subresources=tuple(_subresource(entry, sub) for sub in row.get("subresources", ())),
        storage_version=entry["version"],
    )


def _subresource(entry: Json, sub: Json) -> Subresource:
    return Subresource(
        name=sub["name"],
        group=str(sub.get("group", entry["group"])),
        version=str(sub.get("version", entry["version"])),
        kind=sub["kind"],
        verbs=tuple(sub["verbs"]),
    )


def api_versions() -> Json:
    """The document at /api."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": ""}],
    }


def api_group_list(resources: Iterable[Resource]) -> Json:
    """The document at /apis."""
    groups = [_group(name, versions) for name, versions in versions_by_group(resources).items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def api_group(resources: Iterable[Resource], group: str) -> Json | None:
    """The document at /apis/GROUP; None for a group that is not served."""
    versions = versions_by_group(resources).get(group)
    if versions is None:
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, versions)}


def api_resource_list(resources: Iterable[Resource], group: str, version: str) -> Json | None:
    """The document at /api/v1 or /apis/GROUP/VERSION; None for a group-version that is not served."""
    served = [r for r in resources if r.group == group and r.version == version]
    if not served:
        return None
    rows = [row for resource in sorted(served, key=lambda r: r.plural) for row in _rows(resource)]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": served[0].api_version,
        "resources": rows,
    }


def aggregated(resources: Iterable[Resource], *, legacy: bool) -> Json:
    """The v2 document: of the group without a name at /api (`legacy`), of all others at /apis."""
    by_version: dict[str, dict[str, list[Resource]]] = {}
    for resource in resources:
        if legacy == (resource.group == ""):
            by_version.setdefault(resource.group, {}).setdefault(resource.version, []).append(resource)
    items = [
        {
            "metadata": {"name": group} if group else {},
            "versions": [
                {
                    "version": version,
                    "resources": [_aggregated_resource(r) for r in sorted(served, key=lambda r: r.plural)],
                    "freshness": "Current",
                }
                for version, served in _by_priority(versions)
            ],
        }
        for group, versions in by_version.items()
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    }


def etag(document: bytes) -> str:
    """The ETag of an aggregated document; clients send it back to be told that nothing changed."""
    return f'"{hashlib.sha256(document).hexdigest().upper()}"'


def version_priority(version: str) -> tuple[int, int, int, str]:
    """Sort key that puts v2 before v1 before v1beta1 before v1alpha2 before names of another form."""
    rest = version.removeprefix("v")
    if rest == version:
        return (3, 0, 0, version)
    for rank, stage in ((1, "beta"), (2, "alpha")):
        major, found, minor = rest.partition(stage)
        if found and major.isdigit() and minor.isdigit():
            return (rank, -int(major), -int(minor), "")
    return (0, -int(rest), 0, "") if rest.isdigit() else (3, 0, 0, version)


def versions_by_group(resources: Iterable[Resource]) -> dict[str, list[str]]:
    """The versions of every group, preferred one first."""
    found: dict[str, dict[str, None]] = {}
    for resource in resources:
        found.setdefault(resource.group, {})[resource.version] = None
    return {group: sorted(versions, key=version_priority) for group, versions in found.items()}


def _by_priority(versions: dict[str, list[Resource]]) -> list[tuple[str, list[Resource]]]:
    return sorted(versions.items(), key=lambda pair: version_priority(pair[0]))


def _group(name: str, versions: list[str]) -> Json:
    rows = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": rows, "preferredVersion": rows[0]}


def _rows(resource: Resource) -> Iterable[Json]:
    row: Json = {
        "name": resource.plural,
        "singularName": resource.singular or resource.kind.lower(),
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        row["shortNames"] = list(resource.short_names)
    if resource.categories:
        row["categories"] = list(resource.categories)
    if "list" in resource.verbs:
        row["storageVersionHash"] = _storage_hash(resource)
    yield row
    for sub in resource.subresources:
        yield {
            "name": f"{resource.plural}/{sub.name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            **({} if (sub.group, sub.version) == (resource.group, resource.version) else _group_version(sub)),
            "kind": sub.kind,
            "verbs": list(sub.verbs),
        }


def _group_version(sub: Subresource) -> Json:
    return {"group": sub.group, "version": sub.version}


def _storage_hash(resource: Resource) -> str:
    stored = f"{resource.group}/{resource.storage_version or resource.version}/{resource.kind}"
    return base64.b64encode(hashlib.sha256(stored.encode()).digest()[:8]).decode()


def _aggregated_resource(resource: Resource) -> Json:
    row: Json = {
        "resource": resource.plural,
        "responseKind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular or resource.kind.lower(),
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        row["shortNames"] = list(resource.short_names)
    if resource.categories:
        row["categories"] = list(resource.categories)
    if resource.subresources:
        row["subresources"] = [
            {
                "subresource": sub.name,
                "responseKind": {"group": sub.group, "version": sub.version, "kind": sub.kind},
                "verbs": list(sub.verbs),
            }
            for sub in resource.subresources
        ]
    return row
