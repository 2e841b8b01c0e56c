"""TLS contexts of the client: CA, client certificate, and the checks a kubeconfig may relax.

`auth.py` decides which files or texts to use; the context made here goes to the one aiohttp session.
"""

import ssl
import tempfile
from pathlib import Path

from quorate.kube.errors import ConfigError


def client_context(ca_pem: str, *, verify: bool = True) -> ssl.SSLContext:
    """A context that trusts `ca_pem` (the system's roots where empty), or everything if not `verify`."""
    context = ssl.create_default_context(cadata=ca_pem or None)
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def load_certificate(context: ssl.SSLContext, certificate_pem: str, key_pem: str) -> None:
    """Show this certificate in the next handshakes; a live context may be given a renewed one.

    OpenSSL reads key pairs from files only, so the texts pass through a private directory for a moment.
    """
    with tempfile.TemporaryDirectory(prefix="quorate-") as folder:
        certificate, key = Path(folder, "crt"), Path(folder, "key")
        certificate.write_text(certificate_pem)
        key.touch(mode=0o600)
        key.write_text(key_pem)
        try:
            context.load_cert_chain(certificate, key)
        except (ssl.SSLError, OSError) as error:
            raise ConfigError(f"client certificate and key do not form a usable pair: {error}") from error
