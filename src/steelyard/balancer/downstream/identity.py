"""Identity: the certificates that a balancer shows, chosen by the name that a client asks for.

Loaded whole or not at all: whoever holds an identity holds one that works.
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

Pair = tuple[Path, Path]  # the files of a certificate with its chain, and of its key
Looks = tuple[tuple[int, ...], ...]  # of all files: what tells one content from another

# Mozilla's intermediate profile (wiki.mozilla.org/Security/Server_Side_TLS, 5.7) without DHE, which
# is slow and wants parameters of its own. All are good, so the client chooses: it knows whether
# its machine is faster at AES or at ChaCha20. Those of TLS 1.3 are OpenSSL's own.
_CIPHERS = ":".join(
    f"ECDHE-{signed}-{cipher}"
    for cipher in ("AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305")
    for signed in ("ECDSA", "RSA")
)
_PROTOCOLS = ["http/1.1"]


class CertificateError(SteelyardError):
    """A certificate or its key cannot be used; perhaps it is just being replaced."""

    fault = Fault.USER
    retry = True


class _EncryptedError(Exception):
    """The key wants a password."""


class Shown(NamedTuple):
    """A certificate, its file, and the context that shows it."""

    file: Path
    certificate: Certificate
    context: ssl.SSLContext


class Identity:
    """Contexts by name. The first certificate is for whoever names no host that we know."""

    def __init__(self, shown: Sequence[Shown], looks: Looks) -> None:
        self.shown = tuple(shown)
        self.looks = looks  # before they were read
        self.context = self.shown[0].context  # where every handshake begins
        self._by_name = _by_name(self.shown)
        if len(self.shown) > 1:
            self.context.sni_callback = self._choose

    def named(self, name: str) -> ssl.SSLContext:
        """The one for this host; a name itself goes before a wildcard (RFC 6125, 6.4.3)."""
        name = name.lower()
        found = self._by_name.get(name) or self._by_name.get("*." + name.partition(".")[2])
        return found or self.context

    def _choose(self, tls: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        if name is not None:
            tls.context = self.named(name)


def hush(unraisable: sys.UnraisableHookArgs) -> None:
    """For `sys.unraisablehook`: a name that is not ASCII ends its handshake, which is enough.

    The `ssl` module would print a traceback as well, and anybody could fill a log with them.
    """
    if not isinstance(unraisable.exc_value, UnicodeDecodeError) or not isinstance(
        unraisable.object, bytes
    ):
        sys.__unraisablehook__(unraisable)


def load_identity(pairs: Sequence[Pair]) -> Identity:
    """Everything that is to be shown, or a CertificateError."""
    looks = look(pairs)
    return Identity([_load(certificate, key) for certificate, key in pairs], looks)


def look(pairs: Sequence[Pair]) -> Looks:
    """How the files look now."""
    return tuple(_look(file) for pair in pairs for file in pair)


def _look(file: Path) -> tuple[int, ...]:
    """Links are followed, for they are what certbot and Kubernetes change."""
    try:
        found = os.stat(file)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def concerns(identity: Identity, now: datetime | None = None) -> Iterator[str]:
    """What clients will not like, a sentence each."""
    now = now or datetime.now(UTC)
    for place, (file, certificate, _) in enumerate(identity.shown):
        if certificate.ends < now:
            yield f"{file} expired on {certificate.ends:%Y-%m-%d}: clients will refuse it; renew it"
        elif certificate.begins > now:
            yield f"{file} is valid from {certificate.begins:%Y-%m-%d} on: clients will refuse it"
        if place and not certificate.names:
            yield f"{file} names no host (subjectAltName), so nobody will see it"


def _by_name(shown: Sequence[Shown]) -> Mapping[str, ssl.SSLContext]:
    """The first certificate for a name counts."""
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
