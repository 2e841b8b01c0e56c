"""An API server for tests: in this process, on a free port of the loopback interface."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from quorate.api.meta import Json
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.discovery import builtin_resources
from quorate.embedded.options import User
from quorate.embedded.registry import Registry
from quorate.embedded.server import HttpServer
from quorate.embedded.store import Key, Store
from quorate.embedded.tokens import Authenticator


def config_map(name: str, in_namespace: str = "default") -> Json:
    """The plainest of kinds."""
    metadata = {"name": name, "namespace": in_namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": "v"}}


def pod(name: str, *, node: str = "", labels: dict[str, str] | None = None) -> Json:
    spec: Json = {"containers": [{"name": "main", "image": "busybox"}]}
    if node:
        spec["nodeName"] = node
    metadata: Json = {"name": name, "namespace": "default"}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def namespace(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def deployment(name: str) -> Json:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod("")["spec"]}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def node(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


async def api_server(*namespaces: str, store: Store | None = None) -> ApiServer:
    """The verbs without HTTP, with the namespace `default` and those given."""
    api = ApiServer(Registry(builtin_resources()), store)
    for name in ("default", *namespaces):
        await api.create(api.resource("", "v1", "namespaces"), "", namespace(name))
    return api


def authenticator(api: ApiServer, static: dict[str, User]) -> Authenticator:
    """One that knows these tokens and those of the service accounts."""
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )

    def account(in_namespace: str, name: str) -> Json | None:
        return api.store.get(Key("", "serviceaccounts", in_namespace, name))

    return Authenticator(key, account, now=api.now, static=static)


@dataclass(frozen=True)
class Served:
    url: str
    api: ApiServer


@asynccontextmanager
async def serving() -> AsyncIterator[Served]:
    """Plain HTTP, everybody may do everything."""
    api = await api_server()
    server = HttpServer(api)
    await server.start("127.0.0.1", 0)
    try:
        yield Served(f"http://127.0.0.1:{server.port}", api)
    finally:
        await server.stop()
