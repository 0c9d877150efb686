"""Certificates of a mesh: its own authority, and a folder for each node.

DIR/ca.pem  DIR/ca.key              the authority; the key makes members and stays where it is
DIR/NAME/{ca.pem,node.pem,node.key} for the node of that name; copy the folder to its machine
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from steelyard.errors import Fault, SteelyardError, UsageError

_PEM = serialization.Encoding.PEM
_AUTHORITY_DAYS = 3650
_SKEW = timedelta(hours=1)  # clocks of machines differ
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,62})")
_TAKEN = ("ca.pem", "ca.key")  # files beside the folders of the nodes
_WRONG_WORDS = (FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError)

Key = ec.EllipticCurvePrivateKey


class Member(NamedTuple):
    """The files that were made for one node."""

    name: str
    folder: Path
    expires: datetime


class UnwrittenError(SteelyardError):
    """The machine does not let us write: the disk, or a missing permission."""

    fault = Fault.MACHINE


def make_members(folder: Path, names: list[str], days: int, *, renew: bool) -> list[Member]:
    """Make certificates for these nodes; the authority of the folder is made if there is none."""
    if days > _AUTHORITY_DAYS:
        raise UsageError(
            f"the authority is not valid for {days} days", hint=f"at most {_AUTHORITY_DAYS}"
        )
    try:
        for name in names:
            _check(folder, name, renew)
        authority = _authority(folder)
        return [_member(folder, name, authority, days) for name in names]
    except _WRONG_WORDS as error:
        raise UsageError(_sentence(folder, error), hint="name a folder that can be made") from None
    except OSError as error:
        raise UnwrittenError(_sentence(folder, error), hint="name another folder") from None


def _sentence(folder: Path, error: OSError) -> str:
    return f"{error.filename or folder}: {error.strerror or error}"


def _check(folder: Path, name: str, renew: bool) -> None:
    own = folder / name
    if not _NAME.fullmatch(name):
        raise UsageError(f"“{name}” cannot name a node", hint="use letters, digits, - and .")
    if name in _TAKEN:
        raise UsageError(f"“{name}” cannot name a node", hint="it is a file of the authority")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", hint="name one, or one that is to be made")
    if own.exists() and not own.is_dir():
        raise UsageError(f"{own} is not a folder", hint="give the node another name")
    if own.exists() and not renew:
        raise UsageError(f"{own} is there already", hint="--renew makes new certificates for it")


def _authority(folder: Path) -> tuple[x509.Certificate, Key]:
    certificate, key = folder / "ca.pem", folder / "ca.key"
    if certificate.exists() != key.exists():
        missing = key if certificate.exists() else certificate
        raise UsageError(
            f"{missing} is missing", hint="bring it back, or begin anew in another folder"
        )
    if not certificate.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _make_authority(certificate, key)
    try:
        loaded = serialization.load_pem_private_key(key.read_bytes(), None)
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
    except (ValueError, TypeError) as error:
        raise UsageError(f"{folder} has no authority that can be read: {error}") from None
    if not isinstance(loaded, Key):
        raise UsageError(f"{key} is not a key that `steelyard mesh certs` made")
    return found, loaded


def _make_authority(certificate: Path, file: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    # The authority has a name of its own. With a common name, a certificate of another mesh would
    # look forged, and not like a stranger's.
    text = f"Steelyard mesh {secrets.token_hex(4)}"
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
    builder = _builder(name, key, _AUTHORITY_DAYS).issuer_name(name)
    builder = builder.add_extension(_issuer_mark(key.public_key()), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_usage(authority=True), critical=True)
    _write_key(file, key)
    certificate.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(_PEM))


def _member(folder: Path, name: str, authority: tuple[x509.Certificate, Key], days: int) -> Member:
    issuer, issuer_key = authority
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    purposes = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    builder = (
        _builder(subject, key, days)
        .issuer_name(issuer.subject)
        .add_extension(_issuer_mark(issuer_key.public_key()), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        .add_extension(_usage(authority=False), critical=True)
    )
    signed = builder.sign(issuer_key, hashes.SHA256())
    own = folder / name
    own.mkdir(exist_ok=True)
    shutil.copyfile(folder / "ca.pem", own / "ca.pem")
    _write_key(own / "node.key", key)
    (own / "node.pem").write_bytes(signed.public_bytes(_PEM))
    return Member(name, own, signed.not_valid_after_utc)


def _builder(name: x509.Name, key: Key, days: int) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _issuer_mark(key: ec.EllipticCurvePublicKey) -> x509.AuthorityKeyIdentifier:
    """The extension that names the issuer's key: a strict check demands it (RFC 5280, 4.2.1.1).

    Python's `ssl` checks strictly by default since 3.13.
    """
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(key)


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _write_key(file: Path, key: Key) -> None:
    """Write a key to a file that nobody else can read, from the first byte on."""
    plain = serialization.NoEncryption()
    data = key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, plain)
    file.unlink(missing_ok=True)
    fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as opened:
        opened.write(data)
