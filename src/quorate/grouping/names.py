"""Names that Kubernetes accepts, made from names that it may refuse."""

import hashlib
import re
from collections.abc import Iterable, Mapping

from quorate.api.described import DNS_LABEL

LONGEST_OBJECT_NAME = 253
LONGEST_LABEL = 63
_HASH_LENGTH = 8
_LABEL = re.compile(DNS_LABEL)
_OBJECT = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


def short(name: str) -> str:
    """The name itself, or its beginning and a hash of the whole where it is too long."""
    return name if len(name) <= LONGEST_OBJECT_NAME else _hashed(name, name, LONGEST_OBJECT_NAME)


def object_name(label: str) -> str:
    """A label value as the name of an object: it may hold capitals and underscores, which names may not."""
    return label if _OBJECT.fullmatch(label) else group_name(label)


def valid_names(wanted: Iterable[str]) -> Mapping[str, str]:
    """The DNS label for each name; no name stays no name."""
    return {name: group_name(name) if name else "" for name in wanted}


def group_name(name: str) -> str:
    """The name itself if it is a DNS label, else a label made from it with a hash of the whole."""
    if len(name) <= LONGEST_LABEL and _LABEL.fullmatch(name):
        return name
    cleaned = re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-") or "group"
    return _hashed(name, cleaned, LONGEST_LABEL)


def _hashed(name: str, beginning: str, longest: int) -> str:
    digest = hashlib.sha256(name.encode()).hexdigest()[:_HASH_LENGTH]
    return f"{beginning[: longest - _HASH_LENGTH - 1].rstrip('-.')}-{digest}"
