"""Custom objects on their way to the store: pruned, completed and checked by the schema of their version.

`intake.py` calls this for kinds that a CustomResourceDefinition defines; the schema's meaning is in `pruning`,
`schemavalues`, `listtypes` and `celrules`.
"""

from typing import NamedTuple

from quorate.api.meta import Json
from quorate.embedded import errors, typed
from quorate.embedded.causes import Cause
from quorate.embedded.celrules import check_rules
from quorate.embedded.listtypes import check_lists
from quorate.embedded.pruning import settled
from quorate.embedded.registry import Resource
from quorate.embedded.schemavalues import ABSENT, check
from quorate.embedded.typed import Decoded


class Findings(NamedTuple):
    causes: list[Cause]
    warnings: list[str]


def decode(resource: Resource, tree: Json) -> Decoded:
    """A fresh object with known fields and defaults only, and what was left out."""
    assert resource.schema is not None, resource
    complaints: list[str] = []
    try:
        metadata = typed.object_meta(tree.get("metadata") or {})
    except typed.WrongTypeError as error:
        raise errors.bad_request(typed.refusal(resource.kind, resource.version, str(error))) from None
    obj = settled(resource.schema, {**tree, "metadata": metadata.object}, complaints)
    return Decoded(obj, metadata.complaints + complaints)


def check_object(resource: Resource, new: Json, old: Json | None) -> Findings:
    """What the schema and its rules find; rules are asked only of objects that fit the schema."""
    assert resource.schema is not None, resource
    before = old if old is not None else ABSENT
    found = check(resource.schema, new, before) + check_lists(resource.schema, new)
    if found:
        return Findings(found, [])
    verdict = check_rules(resource.rules, new, before)
    return Findings(verdict.causes, verdict.warnings)
