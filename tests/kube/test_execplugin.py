import asyncio
import stat
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from quorate.kube.errors import CredentialError
from quorate.kube.execplugin import EnvironmentEntry, ExecCredentials, ExecSection

V1 = "client.authentication.k8s.io/v1"


def plugin(folder: Path, script: str, version: str = V1) -> ExecCredentials:
    path = folder / "plugin"
    path.write_text(f"#!/bin/sh\necho run >> {folder}/runs\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    env = (EnvironmentEntry(name="WHO", value="me"),)
    return ExecCredentials(ExecSection(command=str(path), api_version=version, env=env), {}, None)


def credential(status: str, version: str = V1) -> str:
    return f"""cat <<END\n{{"apiVersion":"{version}","kind":"ExecCredential","status":{status}}}\nEND"""


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text().splitlines())


def test_a_token_without_expiry_is_asked_for_once(tmp_path: Path) -> None:
    found = plugin(tmp_path, credential('{"token":"t-$WHO"}'))

    async def check() -> None:
        answers = await asyncio.gather(*(found.headers() for _ in range(5)))
        assert answers == [{"Authorization": "Bearer t-me"}] * 5

    asyncio.run(check())
    assert runs(tmp_path) == 1


def test_an_expired_token_is_renewed(tmp_path: Path) -> None:
    soon = datetime.fromtimestamp(time.time() + 5, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = plugin(tmp_path, credential(f'{{"token":"t","expirationTimestamp":"{soon}"}}'))

    async def check() -> None:
        await found.headers()
        await found.headers()

    asyncio.run(check())
    assert runs(tmp_path) == 2


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo no luck >&2; exit 3", r"failed \(3\): no luck"),
        ("echo nonsense", "printed no ExecCredential"),
        (credential('{"token":""}'), "neither a token nor a client certificate"),
        (credential('{"token":"t"}', "client.authentication.k8s.io/v1beta1"), "answered apiVersion"),
        (credential('{"token":"t","expirationTimestamp":"soon"}'), "'soon' is not a time"),
    ],
)
def test_a_plugin_that_fails_says_how(tmp_path: Path, script: str, message: str) -> None:
    with pytest.raises(CredentialError, match=message):
        asyncio.run(plugin(tmp_path, script).headers())


def test_a_missing_plugin_shows_the_install_hint() -> None:
    section = ExecSection(command="quorate-no-such-plugin", api_version=V1, install_hint="get it there")
    with pytest.raises(CredentialError, match=r"cannot be run: .*get it there"):
        asyncio.run(ExecCredentials(section, {}, None).headers())


def test_an_unknown_version_of_the_protocol_is_refused() -> None:
    with pytest.raises(CredentialError, match="v1alpha1"):
        ExecCredentials(
            ExecSection(command="x", api_version="client.authentication.k8s.io/v1alpha1"), {}, None
        )
