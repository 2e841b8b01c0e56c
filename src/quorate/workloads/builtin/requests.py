"""What a pod as stored requests, and what a node offers, in thousandths by resource."""

import msgspec

from quorate.api.meta import Json
from quorate.api.podspec import PodSpec
from quorate.api.quantity import milli
from quorate.rules.podresources import requested

Amounts = dict[str, int]


def amounts(quantities: Json | None) -> Amounts:
    return {name: milli(text) for name, text in (quantities or {}).items()}


def requests(spec: Json) -> Amounts:
    return dict(requested(msgspec.convert(spec, PodSpec)))
