"""Our admission on a real API server: the printed manifests, with their Service leading to this machine.

The API server takes an ExternalName Service as an address and still asks for the certificate of the Service.
"""

import json
import subprocess
import sys
import time
from typing import Any

from tests.kubectl import Kubectl

READY_SECONDS = 60.0
QUEUE = """
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: asked-about}
spec: {resources: {gpu: {quota: 1}}}
"""


class UnansweredError(Exception):
    """The API server does not get an answer from our webhook."""


def install(kubectl: Kubectl, port: int) -> None:
    """Register the webhooks of a `quorate run --webhook-port`, and wait until they are asked and answer."""
    command = [sys.executable, "-m", "quorate.cli", "manifests", "--webhook-port", str(port), "-o", "json"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    objects = json.loads(printed)
    for item in objects["items"]:
        _lead_here(item, port)
    kubectl("apply", "--server-side", "--filename", "-", stdin=json.dumps(objects))
    deadline = time.monotonic() + READY_SECONDS
    while (asked := kubectl.run("apply", "--dry-run=server", "-f", "-", stdin=QUEUE)).code:
        if time.monotonic() > deadline:
            raise UnansweredError(f"our webhook is not heard: {asked.err.strip()}")
        time.sleep(0.2)


def _lead_here(item: dict[str, Any], port: int) -> None:
    if item["kind"] == "Service":
        item["spec"] = {"type": "ExternalName", "externalName": "localhost"}
    for webhook in item.get("webhooks", ()):
        webhook["clientConfig"]["service"]["port"] = port
