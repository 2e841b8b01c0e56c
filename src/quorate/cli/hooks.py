"""Admission on the embedded cluster: its certificate, its port, and the configurations that lead there.

They are written before anybody serves. Those of an earlier process on the same data lead to a port where nobody
listens, and would refuse what a starting cluster writes: they go first.
"""

import base64
import socket
from pathlib import Path

from quorate.api.meta import Json
from quorate.api.webhooks import NAME, configurations
from quorate.controllers.admission import CONFIGURATIONS, Webhook
from quorate.controllers.app import Settings
from quorate.kube.apply import Writer
from quorate.kube.auth import Connection
from quorate.kube.certificates import Files, ensure, utc_now
from quorate.kube.client import Client
from quorate.plan import Apply, Plan, Ref

HOST = "127.0.0.1"
LEFTOVERS = tuple(Ref(kind=kind, name=NAME) for kind in CONFIGURATIONS)


def webhook(kubeconfig: Path) -> Webhook:
    """Where to serve: a free port, with a certificate beside the kubeconfig."""
    return Webhook(
        Files(kubeconfig.with_name(f"{kubeconfig.name}-webhook")), ("localhost",), HOST, _free_port()
    )


async def install(connection: Connection, settings: Settings | None) -> None:
    """Lead the API server to the webhook of these settings; without admission there is none."""
    if settings is None or settings.webhook is None or "admission" not in settings.chosen:
        return
    served = settings.webhook
    ensure(served.folder, served.names, utc_now())
    bodies = configurations(settings.scheduler_name, f"https://localhost:{served.port}")
    changes = tuple(
        Apply(target=Ref(kind=kind, name=NAME), body=_trusting(body, served.folder))
        for kind, body in zip(CONFIGURATIONS, bodies, strict=True)
    )
    async with Client(connection) as client:
        await Writer(client, "quorate-up").write(Plan(changes=changes))


def _trusting(configuration: Json, files: Files) -> Json:
    bundle = base64.b64encode(files.ca.read_bytes()).decode()
    for one in configuration["webhooks"]:
        one["clientConfig"]["caBundle"] = bundle
    return configuration


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])
