"""The cluster's own certificate authority: server and client certificates, kept in a directory and made once.

1. Private keys are readable by their owner only.
2. What is valid is reused, so a kubeconfig written before a restart works after it.
3. A certificate that has expired, is about to, or lacks a wanted name is made anew; a new authority renews
   all of them.

`cluster.py` serves with the server pair, `kubeconfig.py` writes a client pair into a file for kubectl.
"""

import ipaddress
import os
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

ADMIN_GROUP = "system:masters"
_AUTHORITY_DAYS = 3650
_LEAF_DAYS = 365
# Renewed this long before the end, so that a long run does not outlive its certificate unawares.
_MARGIN = timedelta(days=30)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_IN_CLUSTER = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, on disk as PEM."""

    certificate: Path
    key: Path

    @property
    def certificate_pem(self) -> bytes:
        return self.certificate.read_bytes()

    @property
    def key_pem(self) -> bytes:
        return self.key.read_bytes()


class Authority:
    """Issues certificates below one directory."""

    def __init__(self, directory: Path, *, now: datetime | None = None) -> None:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._directory = directory
        self._now = now or datetime.now(UTC)
        self.pair = self._pair("ca")
        if not self._is_valid(self.pair):
            self._create_authority()
        self._certificate = x509.load_pem_x509_certificate(self.pair.certificate_pem)
        self._key = _load_key(self.pair)

    def server(self, names: Sequence[str] = ()) -> Pair:
        """The API server's pair, good for loopback, the in-cluster names and the given ones."""
        wanted = [*dict.fromkeys((*_LOOPBACK, *_IN_CLUSTER, *names))]
        pair = self._pair("server")
        if not (self._is_issued(pair) and _covers(pair, wanted)):
            alternatives = x509.SubjectAlternativeName([_general_name(name) for name in wanted])
            subject = _subject("kube-apiserver", ())
            self._issue(pair, subject, ExtendedKeyUsageOID.SERVER_AUTH, alternatives)
        return pair

    def client(self, name: str, groups: Sequence[str] = ()) -> Pair:
        """The pair of a user: common name and organisations become name and groups."""
        pair = self._pair(f"client-{name.replace(':', '-').replace('/', '-')}")
        subject = _subject(name, groups)
        if not (self._is_issued(pair) and _load(pair).subject == subject):
            self._issue(pair, subject, ExtendedKeyUsageOID.CLIENT_AUTH, None)
        return pair

    def server_context(self, names: Sequence[str] = ()) -> ssl.SSLContext:
        """For a listener that asks clients for a certificate but also takes tokens."""
        pair = self.server(names)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(self.pair.certificate))
        context.load_cert_chain(pair.certificate, pair.key)
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def _pair(self, name: str) -> Pair:
        return Pair(self._directory / f"{name}.crt", self._directory / f"{name}.key")

    def _is_valid(self, pair: Pair) -> bool:
        try:
            certificate = _load(pair)
            key = _load_key(pair)
        except (OSError, ValueError):
            return False
        matches = certificate.public_key() == key.public_key()
        return (
            matches
            and certificate.not_valid_after_utc - _MARGIN > self._now >= certificate.not_valid_before_utc
        )

    def _is_issued(self, pair: Pair) -> bool:
        if not self._is_valid(pair):
            return False
        try:
            _load(pair).verify_directly_issued_by(self._certificate)
        except Exception:  # noqa: BLE001 whatever is wrong with the old signature, the answer is a new one
            return False
        return True

    def _create_authority(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _subject("quorate-ca", ())
        builder = self._builder(subject, subject, key.public_key(), _AUTHORITY_DAYS)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        builder = builder.add_extension(_key_usage(authority=True), critical=True)
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        certificate = builder.add_extension(identifier, critical=False).sign(key, hashes.SHA256())
        _write(self.pair, certificate, key)

    def _issue(
        self,
        pair: Pair,
        subject: x509.Name,
        usage: x509.ObjectIdentifier,
        alternatives: x509.SubjectAlternativeName | None,
    ) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(subject, self._certificate.subject, key.public_key(), _LEAF_DAYS)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(_key_usage(authority=False), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(issuer, critical=False)
        if alternatives is not None:
            builder = builder.add_extension(alternatives, critical=False)
        _write(pair, builder.sign(self._key, hashes.SHA256()), key)

    def _builder(
        self, subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, days: int
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            # Clocks of other machines may be slightly behind.
            .not_valid_before(self._now - timedelta(minutes=5))
            .not_valid_after(self._now + timedelta(days=days))
        )


@lru_cache(maxsize=256)
def identity(certificate: bytes) -> tuple[str, tuple[str, ...]]:
    """User name and groups of a client certificate in DER form."""
    subject = x509.load_der_x509_certificate(certificate).subject
    names = [str(one.value) for one in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    groups = tuple(str(one.value) for one in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME))
    return (names[0] if names else "", groups)


def _subject(name: str, groups: Sequence[str]) -> x509.Name:
    organisations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organisations, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _key_usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=not authority,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )


def _covers(pair: Pair, wanted: Sequence[str]) -> bool:
    extension = _load(pair).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    return {_general_name(name) for name in wanted} <= set(extension.value)


def _load(pair: Pair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pair.certificate_pem)


def _load_key(pair: Pair) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(pair.key_pem, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        msg = f"{pair.key} holds no elliptic curve key; delete it and a new one is made"
        raise ValueError(msg)  # noqa: TRY004 the file's content is at fault, not an argument's type
    return key


def _write(pair: Pair, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
    form = serialization.PrivateFormat.PKCS8
    data = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    # The key first: a certificate without its key would be taken for a broken pair only later.
    write_private(pair.key, data)
    write_private(pair.certificate, certificate.public_bytes(serialization.Encoding.PEM))


def write_private(path: Path, data: bytes) -> None:
    """Replace the file in one step with one that only its owner can read."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    try:
        fresh.replace(path)
    except OSError:
        fresh.unlink()
        raise
