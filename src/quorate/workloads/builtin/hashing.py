"""Hashes that name revisions of a pod template: stable for equal content, in the alphabet of names."""

from zlib import crc32

import msgspec

from quorate.api.meta import Json

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def safe(text: str) -> str:
    """Letters and digits that cannot form words, as pod-template-hash uses them."""
    return "".join(_ALPHABET[ord(char) % len(_ALPHABET)] for char in text)


def template_hash(content: Json, collisions: int = 0) -> str:
    """Ten letters at most; a collision count salts the hash so that a taken name can be avoided."""
    canonical = msgspec.json.encode(content, order="sorted")
    salted = canonical + str(collisions).encode() if collisions else canonical
    return safe(str(crc32(salted)))
