"""Identity: the certificates of a balancer, chosen by the host name that a client sends (SNI).

An identity is loaded completely or not at all, so every `Identity` object is usable.
"""

from __future__ import annotations

import os
import ssl
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from steelyard.balancer.downstream.certificate import Certificate, read_certificate
from steelyard.errors import Fault, MalformedError, SteelyardError

Pair = tuple[Path, Path]  # the file of a certificate with its chain, and its key file
Looks = tuple[tuple[int, ...], ...]  # per file: facts that change with the content

# Mozilla's intermediate profile (wiki.mozilla.org/Security/Server_Side_TLS, 5.7) without DHE, which
# is slow and needs parameters of its own. All these ciphers are secure, so the client's preference
# decides: it knows whether its machine is faster at AES or at ChaCha20. The ciphers of TLS 1.3 are
# OpenSSL's defaults.
_CIPHERS = ":".join(
    f"ECDHE-{signed}-{cipher}"
    for cipher in ("AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305")
    for signed in ("ECDSA", "RSA")
)
_PROTOCOLS = ["http/1.1"]


class CertificateError(SteelyardError):
    """A certificate or its key cannot be used; perhaps somebody is replacing its file just now."""

    fault = Fault.USER
    retry = True


class _EncryptedError(Exception):
    """The private key is encrypted with a password."""


class Shown(NamedTuple):
    """A certificate, its file, and the TLS context that uses it."""

    file: Path
    certificate: Certificate
    context: ssl.SSLContext


class Identity:
    """TLS contexts by host name. A client that sends no known host name gets the first one."""

    def __init__(self, shown: Sequence[Shown], looks: Looks) -> None:
        self.shown = tuple(shown)
        self.looks = looks  # of the files, taken before they were read
        self.context = self.shown[0].context  # every handshake begins with this context
        self._by_name = _by_name(self.shown)
        if len(self.shown) > 1:
            self.context.sni_callback = self._choose

    def named(self, name: str) -> ssl.SSLContext:
        """Return the context for a host; an exact name precedes a wildcard (RFC 6125, 6.4.3)."""
        name = name.lower()
        found = self._by_name.get(name) or self._by_name.get("*." + name.partition(".")[2])
        return found or self.context

    def _choose(self, tls: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        if name is not None:
            tls.context = self.named(name)


def hush(unraisable: sys.UnraisableHookArgs) -> None:
    """Suppress, as `sys.unraisablehook`, the traceback for an SNI name that is not ASCII.

    Such a name ends its handshake. The `ssl` module would print a traceback as well, so that
    anybody could fill a log with tracebacks.
    """
    if not isinstance(unraisable.exc_value, UnicodeDecodeError) or not isinstance(
        unraisable.object, bytes
    ):
        sys.__unraisablehook__(unraisable)


def load_identity(pairs: Sequence[Pair]) -> Identity:
    """Load all certificates and keys, or raise a CertificateError."""
    looks = look(pairs)
    return Identity([_load(certificate, key) for certificate, key in pairs], looks)


def look(pairs: Sequence[Pair]) -> Looks:
    """Return the facts that tell whether a file has changed, for all files."""
    return tuple(_look(file) for pair in pairs for file in pair)


def _look(file: Path) -> tuple[int, ...]:
    """Stat a file, following symbolic links, because certbot and Kubernetes replace links."""
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def concerns(identity: Identity, now: datetime | None = None) -> Iterator[str]:
    """Yield a sentence for each problem that clients will have with a certificate."""
    now = now or datetime.now(UTC)
    for place, (file, certificate, _) in enumerate(identity.shown):
        if certificate.ends < now:
            yield f"{file} expired on {certificate.ends:%Y-%m-%d}: clients will refuse it; renew it"
        elif certificate.begins > now:
            yield f"{file} is valid from {certificate.begins:%Y-%m-%d} on: clients will refuse it"
        if place and not certificate.names:
            yield f"{file} names no host (subjectAltName), so nobody will see it"


def _by_name(shown: Sequence[Shown]) -> Mapping[str, ssl.SSLContext]:
    """Map host names to contexts; the first certificate with a name gets it."""
    every = [(name, one.context) for one in shown for name in one.certificate.names]
    return dict(reversed(every))


def _load(file: Path, key: Path) -> Shown:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    context.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
    context.set_ciphers(_CIPHERS)
    context.set_alpn_protocols(_PROTOCOLS)
    text = _text(file)
    if key != file:
        _text(key)
    try:
        certificate = read_certificate(text)
        context.load_cert_chain(file, key, password=_no_password)
    except MalformedError as error:
        raise _unusable(file, error.message) from error
    except _EncryptedError:
        raise CertificateError(
            f"the key in {key} is encrypted",
            hint=f"decrypt it: openssl pkey -in {key} -out KEY; nobody else may read that file",
        ) from None
    except ssl.SSLError as error:
        raise _refused(file, key, error) from error
    return Shown(file, certificate, context)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace")
    except OSError as error:
        raise CertificateError(
            f"{file} cannot be read: {error.strerror}",
            hint="gateway.tls_cert and gateway.tls_key name PEM files that this user can read",
        ) from error


def _no_password() -> bytes:
    raise _EncryptedError


def _unusable(file: Path, why: str) -> CertificateError:
    return CertificateError(
        f"{file}: {why}",
        hint="expected PEM, -----BEGIN CERTIFICATE-----; "
        f"if it is DER: openssl x509 -inform der -in {file}",
    )


def _refused(file: Path, key: Path, error: ssl.SSLError) -> CertificateError:
    if error.reason == "KEY_VALUES_MISMATCH":
        return CertificateError(
            f"the key in {key} does not belong to the certificate in {file}",
            hint=f"these must print the same: openssl x509 -noout -pubkey -in {file}; "
            f"openssl pkey -pubout -in {key}",
        )
    if error.reason is None or error.reason in {"NO_START_LINE", "PEM_LIB"}:
        return CertificateError(
            f"{key}: no key in it",
            hint="expected PEM, -----BEGIN PRIVATE KEY-----; gateway.tls_key names its file",
        )
    return CertificateError(
        f"{file} with {key} is refused by OpenSSL: {error.reason.lower().replace('_', ' ')}",
        hint="is it whole, and is its key long enough (RSA from 2048 bits on)?",
    )
