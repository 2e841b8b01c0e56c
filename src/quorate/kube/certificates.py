"""Certificates for our own servers: a small CA, a serving certificate from it, renewed before it expires.

`webhook.py` serves with the files; the CA's text goes into the webhook configurations.
"""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from quorate.kube.errors import ConfigError

LIFE = timedelta(days=365)
RENEW_BEFORE = timedelta(days=30)
# a fresh certificate must be valid on machines whose clock is a little behind
SKEW = timedelta(minutes=10)


class Files(NamedTuple):
    """Where a serving certificate lies, by the names of a Kubernetes TLS Secret."""

    folder: Path

    @property
    def certificate(self) -> Path:
        return self.folder / "tls.crt"

    @property
    def key(self) -> Path:
        return self.folder / "tls.key"

    @property
    def ca(self) -> Path:
        return self.folder / "ca.crt"

    def stamp(self) -> tuple[int, int]:
        """Changes when the files do."""
        return self.certificate.stat().st_mtime_ns, self.key.stat().st_mtime_ns


def ensure(files: Files, names: tuple[str, ...], now: datetime) -> bool:
    """Make certificates unless good ones are there; true if new ones were written."""
    if is_good(files, names, now):
        return False
    files.folder.mkdir(parents=True, exist_ok=True)
    issue(files, names, now)
    return True


def is_good(files: Files, names: tuple[str, ...], now: datetime) -> bool:
    try:
        certificate = x509.load_pem_x509_certificate(files.certificate.read_bytes())
    except (OSError, ValueError):
        return False
    alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    known = set(alternatives.get_values_for_type(x509.DNSName))
    return files.ca.exists() and known >= set(names) and certificate.not_valid_after_utc - now > RENEW_BEFORE


def issue(files: Files, names: tuple[str, ...], now: datetime) -> None:
    """A CA that signs this one certificate; its key is not kept, so it can sign nothing else."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "quorate-webhook-ca")])
    ca = (
        blank(ca_name, ca_name, ca_key.public_key(), now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(ca_key.public_key()), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    certificate = (
        blank(subject, ca_name, key.public_key(), now)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False
        )
        .sign(ca_key, hashes.SHA256())
    )
    files.ca.write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    files.key.touch(mode=0o600)
    files.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    files.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def blank(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime
) -> x509.CertificateBuilder:
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key,
        serial_number=x509.random_serial_number(),
        not_valid_before=now - SKEW,
        not_valid_after=now + LIFE,
    )


def server_context(files: Files) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    reload(context, files)
    return context


def reload(context: ssl.SSLContext, files: Files) -> None:
    """The next handshakes show what the files hold now."""
    try:
        context.load_cert_chain(files.certificate, files.key)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"serving certificate {files.certificate}: {error}") from error


def utc_now() -> datetime:
    return datetime.now(UTC)
