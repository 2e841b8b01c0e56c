"""How a field of a custom kind carries its description and limits into the CustomResourceDefinition.

Limits stand in the schema only: decoding accepts what violates them, so that admission and `quorate lint`
can report every fault of an object instead of failing at the first.
"""

import msgspec

DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
INT32_MAX = 2**31 - 1


def described(text: str, **schema: object) -> msgspec.Meta:
    """What stands beside a type in `Annotated`; the keywords are OpenAPI keywords."""
    return msgspec.Meta(extra_json_schema={"description": text, **schema})


def rule(expression: str, message: str) -> dict[str, str]:
    """One CEL rule of `x-kubernetes-validations`."""
    return {"rule": expression, "message": message}
