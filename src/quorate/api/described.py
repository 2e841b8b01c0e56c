"""How a field of a custom kind carries its description and limits into the CustomResourceDefinition.

Limits stand in the schema only: decoding accepts what violates them, so that admission and `quorate lint`
can report every fault of an object instead of failing at the first.
"""

import msgspec

DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_PART = r"([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+"
DURATION = rf"^({_PART}|0)$"
SIGNED_DURATION = rf"^([-+]?{_PART}|0)$"
INT32_MAX = 2**31 - 1

DEFAULT = "x-quorate-default"
REQUIRED = "x-quorate-required"
RULES = "x-kubernetes-validations"


def described(text: str, *, required: bool = False, **schema: object) -> msgspec.Meta:
    """What stands beside a type in `Annotated`; the keywords are OpenAPI keywords.

    `default` is what the API server fills in. `required` and `default` are kept under keys of our own until
    `schemas` puts them in place, because the default of the Python field says nothing to the server.
    """
    if "default" in schema:
        schema[DEFAULT] = schema.pop("default")
    if required:
        schema[REQUIRED] = True
    return msgspec.Meta(extra_json_schema={"description": text, **schema})


def rule(expression: str, message: str, *, field: str = "") -> dict[str, str]:
    """One CEL rule of `x-kubernetes-validations`; `field` is the one at fault, below where the rule stands."""
    return {"rule": expression, "message": message, **({"fieldPath": field} if field else {})}
