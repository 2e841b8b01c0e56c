import asyncio
import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from quorate.embedded import kubeconfig, pki
from quorate.embedded.pki import Authority, Pair


def der(pair: Pair) -> bytes:
    return x509.load_pem_x509_certificate(pair.certificate_pem).public_bytes(Encoding.DER)


def test_keys_are_private(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "pki")
    for path in (authority.pair.key, authority.server().key, authority.client("admin").key):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_restart_reuses_what_is_valid(tmp_path: Path) -> None:
    first = Authority(tmp_path)
    before = (first.pair.certificate_pem, first.server().certificate_pem, first.client("a").certificate_pem)
    again = Authority(tmp_path)
    after = (again.pair.certificate_pem, again.server().certificate_pem, again.client("a").certificate_pem)
    assert before == after


def test_what_expires_soon_is_renewed(tmp_path: Path) -> None:
    old = Authority(tmp_path)
    served = old.server().certificate_pem
    later = Authority(tmp_path, now=datetime.now(UTC) + timedelta(days=340))
    assert later.pair.certificate_pem == old.pair.certificate_pem
    assert later.server().certificate_pem != served


def test_another_name_makes_another_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    served = authority.server().certificate_pem
    assert authority.server(["10.1.2.3", "cluster.example"]).certificate_pem != served
    assert authority.server(["10.1.2.3"]).certificate_pem == authority.server().certificate_pem


def test_a_damaged_authority_is_replaced_with_all_it_signed(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    served = authority.server().certificate_pem
    authority.pair.key.write_bytes(b"no key")
    assert Authority(tmp_path).server().certificate_pem != served


def test_a_client_certificate_names_user_and_groups(tmp_path: Path) -> None:
    pair = Authority(tmp_path).client("admin", [pki.ADMIN_GROUP, "team"])
    assert pki.identity(der(pair)) == ("admin", ("system:masters", "team"))


def test_client_and_server_trust_each_other(tmp_path: Path) -> None:
    seen: list[tuple[str, tuple[str, ...]]] = []

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(pki.identity(writer.get_extra_info("ssl_object").getpeercert(binary_form=True)))
        writer.close()
        await writer.wait_closed()

    async def run() -> None:
        authority = Authority(tmp_path)
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=authority.server_context())
        admin = authority.client("admin", [pki.ADMIN_GROUP])
        context = ssl.create_default_context(cafile=str(authority.pair.certificate))
        context.load_cert_chain(admin.certificate, admin.key)
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        await reader.read()
        writer.close()
        await writer.wait_closed()
        server.close()
        await server.wait_closed()

    asyncio.run(run())
    assert seen == [("admin", ("system:masters",))]


def test_a_kubeconfig_holds_all_a_client_needs(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "pki")
    path = tmp_path / "config"
    login = kubeconfig.Login("admin", authority.client("admin"))
    kubeconfig.write(path, "https://127.0.0.1:6443", authority.pair.certificate_pem, login)
    tree = yaml.safe_load(path.read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert tree["current-context"] == "quorate"
    assert tree["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:6443"
    assert set(tree["users"][0]["user"]) == {"client-certificate-data", "client-key-data"}


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    with pytest.raises(OSError, match="config"):
        pki.write_private(tmp_path / "config", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["config"]


def test_a_kubeconfig_may_hold_a_token(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    login = kubeconfig.Login("ci", None, "secret")
    tree = kubeconfig.config("https://localhost", authority.pair.certificate_pem, login)
    assert tree["users"] == [{"name": "ci", "user": {"token": "secret"}}]
