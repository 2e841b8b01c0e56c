"""Certificates, the service account key and the kubeconfig of one throw-away control plane."""

from dataclasses import dataclass
from pathlib import Path

import trustme
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

ADMIN = "conformance-admin"
MASTERS = "system:masters"

KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: conformance
clusters:
- name: conformance
  cluster: {{server: "https://127.0.0.1:{port}", certificate-authority: "{folder}/ca.crt"}}
users:
- name: admin
  user: {{client-certificate: "{folder}/admin.crt", client-key: "{folder}/admin.key"}}
contexts:
- name: conformance
  context: {{cluster: conformance, user: admin}}
"""


@dataclass(frozen=True, slots=True)
class Credentials:
    folder: Path

    def path(self, name: str) -> str:
        return str(self.folder / name)


def create(folder: Path) -> Credentials:
    """Write ca.crt, server.{crt,key}, admin.{crt,key} and accounts.key."""
    folder.mkdir(parents=True, exist_ok=True)
    authority = trustme.CA(organization_name="conformance")
    authority.cert_pem.write_to_path(str(folder / "ca.crt"))
    identities = ("127.0.0.1", "localhost", "kubernetes.default.svc", "10.96.0.1")
    _write(authority.issue_cert(*identities, common_name="kube-apiserver"), folder / "server")
    # the organization of a client certificate is the group of its user
    _write(
        authority.issue_cert(f"{ADMIN}.test", common_name=ADMIN, organization_name=MASTERS), folder / "admin"
    )
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    (folder / "accounts.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    return Credentials(folder)


def kubeconfig(credentials: Credentials, port: int) -> Path:
    path = credentials.folder / "kubeconfig"
    path.write_text(KUBECONFIG.format(port=port, folder=credentials.folder))
    return path


def _write(issued: trustme.LeafCert, stem: Path) -> None:
    stem.with_suffix(".crt").write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    stem.with_suffix(".key").write_bytes(issued.private_key_pem.bytes())
