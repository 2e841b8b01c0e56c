"""Writes the file that tells kubectl and other clients where the embedded cluster is and who they are."""

import base64
from pathlib import Path
from typing import NamedTuple

import yaml

from quorate.api.meta import Json
from quorate.embedded.pki import Pair, write_private


class Login(NamedTuple):
    """How a user proves who they are: by a client certificate or by a token."""

    user: str
    pair: Pair | None = None
    token: str = ""


_NAME = "quorate"  # of the cluster and of the context


def write(path: Path, server: str, authority_pem: bytes, login: Login) -> None:
    """Write the file, readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tree = config(server, authority_pem, login)
    write_private(path, yaml.safe_dump(tree, sort_keys=False).encode())


def config(server: str, authority_pem: bytes, login: Login) -> Json:
    context = {"cluster": _NAME, "user": login.user, "namespace": "default"}
    location = {"server": server, "certificate-authority-data": _encoded(authority_pem)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": _NAME, "cluster": location}],
        "users": [{"name": login.user, "user": _credentials(login)}],
        "contexts": [{"name": _NAME, "context": context}],
        "current-context": _NAME,
    }


def _credentials(login: Login) -> Json:
    if login.pair is None:
        return {"token": login.token}
    return {
        "client-certificate-data": _encoded(login.pair.certificate_pem),
        "client-key-data": _encoded(login.pair.key_pem),
    }


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
