import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from quorate.api.meta import Kind
from quorate.kube import webhook
from quorate.kube.certificates import Files, ensure, issue, utc_now
from quorate.kube.errors import ConfigError
from quorate.kube.webhook import AdmissionRequest, FieldError, Verdict, WebhookServer, trust
from quorate.plan import Patch, Ref
from tests.fakes.eventually import eventually

NAMES = ("localhost", "quorate.quorate-system.svc")
KIND = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    False,
)


def judge(request: AdmissionRequest) -> Verdict:
    match request.name:
        case "bad":
            return Verdict(errors=(FieldError("spec.minMember", "must be positive"),), warnings=("look out",))
        case "patched":
            return Verdict(patch=({"op": "add", "path": "/x", "value": 1},))
    return Verdict()


def review(name: str) -> dict[str, Any]:
    request = {
        "uid": "u1",
        "kind": {"group": "g", "version": "v1", "kind": "PodGroup"},
        "operation": "CREATE",
        "name": name,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


@asynccontextmanager
async def served(files: Files) -> AsyncIterator[str]:
    port: list[int] = []
    server = asyncio.create_task(
        WebhookServer({"/validate": judge}, files).run("127.0.0.1", 0, ready=port.append)
    )
    try:
        await eventually(lambda: bool(port))
        yield f"https://localhost:{port[0]}"
    finally:
        server.cancel()
        with suppress(asyncio.CancelledError):
            await server


def files_in(folder: Path) -> Files:
    files = Files(folder)
    ensure(files, NAMES, utc_now())
    return files


async def post(files: Files, body: Any) -> tuple[int, Any]:
    tls = ssl.create_default_context(cafile=str(files.ca))
    async with (
        served(files) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/validate", json=body, ssl=tls) as answer,
    ):
        text = await answer.text()
        return answer.status, json.loads(text) if answer.status == 200 else text


def test_errors_are_worded_as_the_api_server_words_them(tmp_path: Path) -> None:
    _, answer = asyncio.run(post(files_in(tmp_path), review("bad")))
    response = answer["response"]
    assert (response["uid"], response["allowed"], response["warnings"]) == ("u1", False, ["look out"])
    assert response["status"]["message"] == 'PodGroup "bad" is invalid: spec.minMember: must be positive'
    assert response["status"]["code"] == 422


def test_a_patch_is_base64_of_a_json_patch(tmp_path: Path) -> None:
    _, answer = asyncio.run(post(files_in(tmp_path), review("patched")))
    assert answer["response"]["allowed"]
    assert json.loads(base64.b64decode(answer["response"]["patch"])) == [
        {"op": "add", "path": "/x", "value": 1}
    ]


@pytest.mark.parametrize(
    "body", [{"kind": "Pod"}, [], {**review("x"), "apiVersion": "admission.k8s.io/v1beta1"}]
)
def test_what_is_no_review_is_refused_by_name(tmp_path: Path, body: Any) -> None:
    status, text = asyncio.run(post(files_in(tmp_path), body))
    assert status == 400
    assert "AdmissionReview" in text


def test_a_renewed_certificate_is_shown_without_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "LOOK_SECONDS", 0.01)
    files = files_in(tmp_path)

    async def shown(url: str) -> bytes:
        port = int(url.rsplit(":", 1)[1])
        pem = await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", port))
        return pem.encode()

    async def check() -> None:
        async with served(files) as url:
            assert await shown(url) == files.certificate.read_bytes()
            issue(files, NAMES, utc_now())
            async with asyncio.timeout(5):
                while await shown(url) != files.certificate.read_bytes():
                    pass

    asyncio.run(check())


def test_certificates_are_kept_until_they_are_about_to_expire(tmp_path: Path) -> None:
    files = files_in(tmp_path)
    assert not ensure(files, NAMES, utc_now())
    assert not ensure(files, NAMES[:1], utc_now())
    assert ensure(files, (*NAMES, "new.name"), utc_now())
    assert ensure(files, NAMES, utc_now() + timedelta(days=340))


def test_an_occupied_port_is_named(tmp_path: Path) -> None:
    files = files_in(tmp_path)

    async def check() -> None:
        async with served(files) as url:
            port = int(url.rsplit(":", 1)[1])
            with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}.*choose another port"):
                await WebhookServer({}, files).run("127.0.0.1", port)

    asyncio.run(check())


def test_the_ca_is_written_into_every_webhook_and_nothing_else_changes() -> None:
    target = Ref(kind=KIND, name="quorate")
    configuration = {
        "metadata": {"name": "quorate", "resourceVersion": "3"},
        "webhooks": [
            {"name": "a", "clientConfig": {"service": {"name": "s"}}},
            {"name": "b", "clientConfig": {}},
        ],
    }
    (change,) = trust(configuration, target, b"pem").changes
    assert isinstance(change, Patch)
    assert change.target.resource_version == "3"
    assert change.body["webhooks"][0] == {
        "name": "a",
        "clientConfig": {"service": {"name": "s"}, "caBundle": "cGVt"},
    }
    assert not trust({**configuration, **change.body}, target, b"pem")
