"""A gate in front of a cluster's binds: a validating webhook in this process that lets so many through."""

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from quorate.embedded.pki import Authority
from tests.kubectl import Kubectl


class Gate:
    """Lets the first `through` pods be bound; others are refused, or kept waiting, until it is opened."""

    def __init__(self, directory: Path, *, through: int, keeps_waiting: bool = False) -> None:
        self._authority = Authority(directory)
        self._through = through
        self._keeps_waiting = keeps_waiting
        self._lock = threading.Lock()
        self._end_of_wait = threading.Event()
        self.is_open = False
        self.is_reached = False  # somebody was not let through
        self.allowed: set[str] = set()
        gate = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = gate.answer(review)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Requests are not printed."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        pair = self._authority.server()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)

    def answer(self, review: dict[str, Any]) -> bytes:
        asked = review["request"]
        response = {
            "uid": asked["uid"],
            "allowed": self._allows(asked["name"]),
            "status": {"message": "gate is shut"},
        }
        return json.dumps({**review, "request": None, "response": response}).encode()

    def refuse_who_waits(self) -> None:
        self._end_of_wait.set()

    def _allows(self, pod: str) -> bool:
        with self._lock:
            if self.is_open or len(self.allowed) < self._through:
                self.allowed.add(pod)
            if pod in self.allowed:
                return True
            self.is_reached = True
        if self._keeps_waiting:
            self._end_of_wait.wait(20)
        return False

    def manifest(self, namespace: str) -> str:
        bundle = base64.b64encode(self._authority.pair.certificate_pem).decode()
        return f"""
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: gate-{namespace}}}
webhooks:
  - name: gate.example.com
    clientConfig: {{url: "https://127.0.0.1:{self.server.server_port}/", caBundle: {bundle}}}
    rules: [{{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods/binding]}}]
    namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {namespace}}}}}
    failurePolicy: Fail
    timeoutSeconds: 30
    sideEffects: None
    admissionReviewVersions: [v1]
"""


@contextmanager
def standing(gate: Gate, shell: Kubectl) -> Iterator[Gate]:
    """The gate before the namespace of the shell, as long as the block lasts."""
    thread = threading.Thread(target=gate.server.serve_forever)
    thread.start()
    namespace = shell.namespace or "default"
    try:
        shell.apply(gate.manifest(namespace))
        yield gate
    finally:
        shell("delete", "validatingwebhookconfiguration", f"gate-{namespace}")
        gate.refuse_who_waits()
        gate.server.shutdown()
        gate.server.server_close()
        thread.join()
