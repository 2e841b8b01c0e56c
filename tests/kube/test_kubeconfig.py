import asyncio
import base64
import os
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml

from quorate.kube.auth import in_cluster
from quorate.kube.errors import ConfigError, CredentialError
from quorate.kube.kubeconfig import connect, discover

CA = trustme.CA()
CA_PEM = CA.cert_pem.bytes()


def config(**changes: Any) -> dict[str, Any]:
    """A kubeconfig in parts: `cluster`, `user`, `context`, and `top` for the top level."""
    data = base64.b64encode(CA_PEM).decode()
    cluster = {"server": "https://127.0.0.1:6443", "certificate-authority-data": data} | changes.get(
        "cluster", {}
    )
    tree: dict[str, Any] = {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": changes.get("user", {"token": "secret"})}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"} | changes.get("context", {})}],
    }
    tree.update(changes.get("top", {}))
    return tree


def write(folder: Path, tree: Any, name: str = "config") -> Path:
    path = folder / name
    path.write_text(tree if isinstance(tree, str) else yaml.safe_dump(tree))
    return path


def headers(path: Path) -> dict[str, str]:
    return asyncio.run(connect([path]).credentials.headers())


def test_a_token_is_sent_as_bearer(tmp_path: Path) -> None:
    assert headers(write(tmp_path, config())) == {"Authorization": "Bearer secret"}


def test_a_token_file_is_relative_to_the_kubeconfig_and_read_again_after_401(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    credentials = connect([write(tmp_path, config(user={"tokenFile": "token"}))]).credentials

    async def check() -> None:
        assert await credentials.headers() == {"Authorization": "Bearer first"}
        (tmp_path / "token").write_text("second\n")
        assert await credentials.headers() == {"Authorization": "Bearer first"}
        credentials.invalidate()
        assert await credentials.headers() == {"Authorization": "Bearer second"}

    asyncio.run(check())


def test_user_and_password_are_sent_as_basic(tmp_path: Path) -> None:
    found = headers(write(tmp_path, config(user={"username": "u", "password": "p"})))
    assert found == {"Authorization": "Basic dTpw"}


def test_cluster_and_context_settings_are_kept(tmp_path: Path) -> None:
    settings = {"tls-server-name": "api.example", "proxy-url": "http://proxy:3128"}
    found = connect([write(tmp_path, config(cluster=settings, context={"namespace": "team"}))])
    assert (found.server_name, found.proxy, found.namespace) == ("api.example", "http://proxy:3128", "team")


def test_the_first_of_several_files_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users = [{"name": "u", "user": {"token": "winner"}}]
    first = write(tmp_path, {"users": users}, "first")
    second = write(tmp_path, config(), "second")
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join([str(first), str(second), str(tmp_path / "absent")]))
    assert asyncio.run(discover().credentials.headers()) == {"Authorization": "Bearer winner"}


def test_a_client_certificate_is_loaded(tmp_path: Path) -> None:
    issued = CA.issue_cert("client")
    (tmp_path / "crt").write_bytes(issued.cert_chain_pems[0].bytes())
    (tmp_path / "key").write_bytes(issued.private_key_pem.bytes())
    user = {"client-certificate": "crt", "client-key": "key"}
    assert connect([write(tmp_path, config(user=user))]).tls is not None


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("a: [", "is not YAML"),
        ("- a", "a mapping is needed at the top"),
        (config(top={"current-context": "other"}), r"contexts has no 'other' \(known: here\)"),
        (config(top={"current-context": ""}), "no current-context"),
        (config(top={"clusters": [{}]}), r"clusters\[0\].name is missing"),
        (config(context={"cluster": "x"}), r"clusters has no 'x' \(known: c\)"),
        (config(context={"user": "x"}), r"users has no 'x' \(known: u\)"),
        (config(cluster={"server": "10.0.0.1"}), r"clusters 'c': server must be an http\(s\) URL"),
        (
            config(cluster={"certificate-authority-data": "?"}),
            "'c': certificate-authority-data is not base64",
        ),
        (
            config(cluster={"certificate-authority-data": "YQ=="}),
            "'c': certificate-authority holds no usable",
        ),
        (
            config(cluster={"certificate-authority-data": "", "certificate-authority": "absent.crt"}),
            "'c': certificate-authority absent.crt: No such file",
        ),
        (config(user={"client-certificate-data": "YQ=="}), "users 'u': client-key is missing"),
        (config(user={"token": 7}), r"users 'u': Expected `str`, got `int` - at `\$.token`"),
        (config(user={"auth-provider": {"name": "gcp"}}), "auth-provider was removed"),
    ],
)
def test_an_error_names_file_and_field(tmp_path: Path, tree: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as found:
        connect([write(tmp_path, tree)])
    assert str(tmp_path) in str(found.value)
    assert "\n" not in str(found.value)


def test_a_plugin_with_a_path_is_found_beside_the_kubeconfig(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    credential = '{"apiVersion":"client.authentication.k8s.io/v1","status":{"token":"from-plugin"}}'
    (tmp_path / "bin").mkdir()
    plugin = tmp_path / "bin" / "login"
    plugin.write_text(f"#!/bin/sh\necho '{credential}'\n")
    plugin.chmod(0o700)
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./bin/login"}}
    kubeconfig = write(tmp_path, config(user=user))
    assert headers(kubeconfig) == {"Authorization": "Bearer from-plugin"}
    monkeypatch.chdir(kubeconfig.parent)
    assert headers(Path(kubeconfig.name)) == {"Authorization": "Bearer from-plugin"}


def test_an_absent_kubeconfig_says_what_to_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "absent"))
    with pytest.raises(ConfigError, match="does not exist; give --kubeconfig"):
        discover()
    with pytest.raises(ConfigError, match="kubeconfig absent does not exist"):
        discover("absent")


def test_a_pod_uses_its_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    (tmp_path / "ca.crt").write_bytes(CA_PEM)
    (tmp_path / "namespace").write_text("system")
    (tmp_path / "token").write_text("pod-token")
    found = in_cluster(tmp_path)
    assert (found.server, found.namespace) == ("https://[fd00::1]:443", "system")
    assert asyncio.run(found.credentials.headers()) == {"Authorization": "Bearer pod-token"}
    (tmp_path / "token").write_text("")
    found.credentials.invalidate()
    with pytest.raises(CredentialError, match="is empty"):
        asyncio.run(found.credentials.headers())


def test_outside_a_cluster_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ConfigError, match="give a kubeconfig"):
        in_cluster()
