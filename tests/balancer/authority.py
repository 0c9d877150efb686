"""A certificate authority for tests: certificates for any names, and clients that trust it."""

from __future__ import annotations

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from steelyard.balancer.downstream.identity import Pair

PEM = serialization.Encoding.PEM
DAY = timedelta(days=1)
_CONSTRAINTS = x509.BasicConstraints(ca=True, path_length=0)
_USAGE = x509.KeyUsage(
    digital_signature=False,
    key_cert_sign=True,
    crl_sign=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


@cache
def _root() -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    begins, ends = datetime.now(UTC) - DAY, datetime.now(UTC) + DAY
    builder = _builder("Steelyard tests", key, begins, ends, issuer=key)
    builder = builder.issuer_name(_name("Steelyard tests"))
    builder = builder.add_extension(_CONSTRAINTS, True).add_extension(_USAGE, True)
    return key, builder.sign(key, hashes.SHA256())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    begins: datetime,
    ends: datetime,
    issuer: ec.EllipticCurvePrivateKey,
) -> x509.CertificateBuilder:
    """A certificate with both key identifiers, which Python's `ssl` demands since 3.13."""
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    above = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(own, critical=False)
        .add_extension(above, critical=False)
    )


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def issue(
    folder: Path,
    *names: str,
    begins: datetime | None = None,
    ends: datetime | None = None,
    password: bytes | None = None,
    stem: str = "",
) -> Pair:
    """Write a new certificate for these names, and its key; each file is replaced atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    root_key, root = _root()
    key = ec.generate_private_key(ec.SECP256R1())
    begins, ends = begins or datetime.now(UTC) - DAY, ends or datetime.now(UTC) + DAY
    builder = _builder("A server", key, begins, ends, root_key).issuer_name(root.subject)
    if names:
        listed = x509.SubjectAlternativeName([_alternative(name) for name in names])
        builder = builder.add_extension(listed, critical=False)
    certificate = builder.sign(root_key, hashes.SHA256())
    locked: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password is not None:
        locked = serialization.BestAvailableEncryption(password)
    stem = stem or (names[0].replace("*", "any") if names else "nameless")
    pem = certificate.public_bytes(PEM) + root.public_bytes(PEM)
    secret = key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, locked)
    return _put(folder / f"{stem}.pem", pem), _put(folder / f"{stem}.key", secret)


def _put(file: Path, data: bytes) -> Path:
    draft = file.with_suffix(".draft")
    draft.write_bytes(data)
    draft.rename(file)
    return file


def root_file(folder: Path) -> Path:
    """The file of the root certificate, which a client must trust."""
    folder.mkdir(parents=True, exist_ok=True)
    return _put(folder / "root.pem", _root()[1].public_bytes(PEM))


def trusting() -> ssl.SSLContext:
    """A client's context that checks names, and checks as strictly as Python 3.13 by default."""
    context = ssl.create_default_context(cadata=_root()[1].public_bytes(PEM).decode())
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context
