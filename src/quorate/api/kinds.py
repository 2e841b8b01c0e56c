"""Every kind that this package names, to find one by what a manifest says."""

from quorate.api import apps, batch, composite, core, lws, podgroup, policy, queue, rbg, storage, topology
from quorate.api.meta import Json, Kind

_MODULES = (apps, batch, composite, core, lws, podgroup, policy, queue, rbg, storage, topology)
_FOUND = [kind for module in _MODULES for kind in vars(module).values() if isinstance(kind, Kind)]
KINDS = {(kind.api_version, kind.kind): kind for kind in _FOUND}


def kind_of(manifest: Json) -> Kind | None:
    """The kind of an object, None for one that Quorate does not know."""
    return KINDS.get((str(manifest.get("apiVersion", "")), str(manifest.get("kind", ""))))
