"""Schemas of what kinds of ours embed: templates of pods and of claims, as Kubernetes publishes them.

`templates.json.gz` is written by `tools/template_schemas.py` from the embedded API server's data, whose
NOTICE says from which release.
"""

import gzip
from importlib.resources import files

import msgspec

from quorate.api.meta import Json

POD, CLAIM = "PodTemplateSpec", "PersistentVolumeClaim"


def template_schema(name: str) -> Json:
    """A structural schema of its own, to be changed at will."""
    packed = files("quorate.api").joinpath("templates.json.gz").read_bytes()
    found: Json = msgspec.json.decode(gzip.decompress(packed))[name]
    return found
