"""Hash keys by which affinity terms tell groups, and sub-groups, apart."""

from hashlib import sha1


def group_key(namespace: str, leader: str) -> str:
    return _key(namespace, leader)


def sub_group_key(leader: str, index: int) -> str:
    return _key(leader, str(index))


def _key(first: str, second: str) -> str:
    return sha1(f"{first}/{second}".encode(), usedforsecurity=False).hexdigest()
