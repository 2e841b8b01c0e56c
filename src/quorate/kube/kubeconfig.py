"""Kubeconfig files: found, merged and turned into a `Connection`; an error names the file and the field.

Merging follows kubectl: the files of $KUBECONFIG in order, the first to name an entry wins. Relative paths
are relative to the file they stand in.
"""

import base64
import binascii
import os
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from quorate.api.meta import Wire
from quorate.api.yamltext import fault
from quorate.kube.auth import (
    SERVICE_ACCOUNT,
    Connection,
    Credentials,
    FixedCredentials,
    TokenFile,
    basic,
    in_cluster,
)
from quorate.kube.errors import ConfigError
from quorate.kube.execplugin import ExecCredentials, ExecSection
from quorate.kube.tls import client_context, load_certificate

DEFAULT_PATH = Path("~/.kube/config")
WEB = ("https://", "http://")


class Cluster(Wire, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""


class User(Wire, rename="kebab"):
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    exec: ExecSection | None = None
    auth_provider: dict[str, Any] | None = None


class Context(Wire):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class Origin(msgspec.Struct, frozen=True):
    """One named entry and the file it came from, for paths and for messages."""

    path: Path
    section: str
    name: str
    body: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.path}: {self.section} {self.name!r}"


T = TypeVar("T")
Sections = dict[tuple[str, str], Origin]


def discover(kubeconfig: str = "", context: str = "") -> Connection:
    """The connection by kubectl's rules: the given file, $KUBECONFIG, ~/.kube/config, else in-cluster."""
    paths = config_paths(kubeconfig)
    if not kubeconfig and not any(path.exists() for path in paths) and SERVICE_ACCOUNT.exists():
        return in_cluster()
    return connect(paths, context)


def config_paths(kubeconfig: str = "") -> list[Path]:
    given = kubeconfig or os.environ.get("KUBECONFIG", "")
    if kubeconfig and not Path(kubeconfig).expanduser().exists():
        raise ConfigError(f"kubeconfig {kubeconfig} does not exist")
    return [Path(part).expanduser() for part in (given or str(DEFAULT_PATH)).split(os.pathsep) if part]


def connect(paths: Sequence[Path], context: str = "") -> Connection:
    """Merge the files and follow context → cluster and user."""
    sections, current = merge(paths)
    shown = ", ".join(map(str, paths))
    name = context or current
    if not name:
        raise ConfigError(f"kubeconfig {shown}: no current-context; set one or give --context")
    chosen = decode(entry(sections, "contexts", name, shown), Context)
    cluster_entry = entry(sections, "clusters", chosen.cluster, shown)
    cluster = read_cluster(cluster_entry)
    user_entry = entry(sections, "users", chosen.user, shown) if chosen.user else None
    user = decode(user_entry, User) if user_entry else User()
    tls = context_of(cluster_entry, cluster) if cluster.server.startswith("https://") else None
    if user_entry and tls:
        show_certificate(user_entry, user, tls)
    return Connection(
        server=cluster.server.rstrip("/"),
        credentials=credentials_of(user_entry, user, cluster, tls),
        tls=tls,
        server_name=cluster.tls_server_name,
        proxy=cluster.proxy_url,
        namespace=chosen.namespace or "default",
    )


def read_cluster(origin: Origin) -> Cluster:
    cluster = decode(origin, Cluster)
    if not cluster.server.startswith(WEB):
        raise ConfigError(f"{origin}: server must be an http(s) URL, not {cluster.server!r}")
    if cluster.proxy_url and not cluster.proxy_url.startswith(WEB):
        raise ConfigError(f"{origin}: proxy-url must be an http(s) URL, not {cluster.proxy_url!r}")
    return cluster


def merge(paths: Sequence[Path]) -> tuple[Sections, str]:
    """All entries by (section, name), and the first current-context."""
    sections: Sections = {}
    current = ""
    existing = [path for path in paths if path.exists()]
    if not existing:
        raise ConfigError(
            f"no kubeconfig: {', '.join(map(str, paths))} does not exist; give --kubeconfig FILE"
        )
    for path in existing:
        tree = read(path)
        current = current or str(tree.get("current-context") or "")
        for section, field in (("clusters", "cluster"), ("contexts", "context"), ("users", "user")):
            for origin in entries(path, tree, section, field):
                sections.setdefault((section, origin.name), origin)
    return sections, current


def read(path: Path) -> Mapping[str, Any]:
    try:
        tree = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"kubeconfig {path} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"kubeconfig {path} is not YAML: {fault(error)}") from error
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigError(f"kubeconfig {path}: a mapping is needed at the top, not {type(tree).__name__}")
    return tree


def entries(path: Path, tree: Mapping[str, Any], section: str, field: str) -> list[Origin]:
    items = tree.get(section) or []
    if not isinstance(items, list):
        raise ConfigError(f"kubeconfig {path}: {section} must be a list")
    found = []
    for index, item in enumerate(items):
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise ConfigError(f"kubeconfig {path}: {section}[{index}].name is missing")
        found.append(Origin(path, section, item["name"], item.get(field) or {}))
    return found


def entry(sections: Sections, section: str, name: str, shown: str) -> Origin:
    origin = sections.get((section, name))
    if origin is None:
        known = ", ".join(sorted(key[1] for key in sections if key[0] == section)) or "none"
        raise ConfigError(f"kubeconfig {shown}: {section} has no {name!r} (known: {known})")
    return origin


def decode(origin: Origin, kind: type[T]) -> T:
    try:
        return msgspec.convert(origin.body, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{origin}: {error}") from error


def context_of(origin: Origin, cluster: Cluster) -> ssl.SSLContext:
    ca = pem(
        origin, "certificate-authority", cluster.certificate_authority, cluster.certificate_authority_data
    )
    try:
        return client_context(ca, verify=not cluster.insecure_skip_tls_verify)
    except ssl.SSLError as error:
        raise ConfigError(f"{origin}: certificate-authority holds no usable certificate: {error}") from error


def show_certificate(origin: Origin, user: User, tls: ssl.SSLContext) -> None:
    certificate = pem(origin, "client-certificate", user.client_certificate, user.client_certificate_data)
    key = pem(origin, "client-key", user.client_key, user.client_key_data)
    if not certificate and not key:
        return
    if not certificate or not key:
        missing = "client-key" if certificate else "client-certificate"
        raise ConfigError(f"{origin}: {missing} is missing; certificate and key go together")
    try:
        load_certificate(tls, certificate, key)
    except ConfigError as error:
        raise ConfigError(f"{origin}: {error}") from error


def pem(origin: Origin, field: str, path: str, data: str) -> str:
    """The text of a `field` (a path) or of its `-data` form (base64), which wins."""
    if data:
        try:
            return base64.b64decode(data, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError) as error:
            raise ConfigError(f"{origin}: {field}-data is not base64 of a PEM text") from error
    if not path:
        return ""
    try:
        return (origin.path.parent / Path(path).expanduser()).read_text()
    except OSError as error:
        raise ConfigError(f"{origin}: {field} {path}: {error.strerror}") from error


def credentials_of(
    origin: Origin | None, user: User, cluster: Cluster, tls: ssl.SSLContext | None
) -> Credentials:
    if user.auth_provider is not None:
        raise ConfigError(f"{origin}: auth-provider was removed from Kubernetes; use an exec plugin")
    if user.token_file and origin:
        return TokenFile(origin.path.parent / Path(user.token_file).expanduser())
    if user.token:
        return FixedCredentials(f"Bearer {user.token}")
    if user.exec is not None and origin:
        info = {"server": cluster.server, "certificate-authority-data": cluster.certificate_authority_data}
        return ExecCredentials(located(user.exec, origin.path.parent.absolute()), dict(info), tls)
    if user.username:
        return basic(user.username, user.password)
    return FixedCredentials()


def located(section: ExecSection, folder: Path) -> ExecSection:
    """A command with a path is relative to the kubeconfig; a bare name is looked up in $PATH."""
    if os.sep not in section.command:
        return section
    return msgspec.structs.replace(section, command=str(folder / section.command))
