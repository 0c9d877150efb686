"""Tests of which certificate a client gets, and of what is said about bad certificates."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from steelyard.balancer.downstream.identity import CertificateError, concerns, load_identity
from tests.balancer.authority import issue, trusting
from tests.balancer.secure import call
from tests.balancer.stage import GET, Stage, always, stage


def shown_to(scene: Stage, name: str) -> set[str]:
    """The names in the certificate that a client gets whose SNI is `name`."""
    context = trusting()
    context.check_hostname = False
    with scene.call() as client:
        client.sock = context.wrap_socket(client.sock, server_hostname=name or None)
        told = client.sock.getpeercert()
        assert told is not None
        return {str(value) for _, value in told["subjectAltName"]}


def test_by_name(tmp_path: Path) -> None:
    """An exact name counts first, then a wildcard for one label, then the first certificate."""
    pairs = [
        issue(tmp_path, "a.org", "www.a.org"),
        issue(tmp_path, "*.a.org", "b.org"),
        issue(tmp_path, "www.a.org", "special.a.org", stem="third"),
    ]
    first, second = {"a.org", "www.a.org"}, {"*.a.org", "b.org"}
    third = {"www.a.org", "special.a.org"}
    expected = {
        "a.org": first,
        "A.ORG": first,
        "www.a.org": first,  # the first certificate for a name counts
        "special.a.org": third,
        "other.a.org": second,
        "x.other.a.org": first,
        "b.org": second,
        "unknown.example": first,
        "": first,  # a client without SNI
    }
    certificates, keys = zip(*pairs, strict=True)
    with stage(always(), tls_cert=certificates, tls_key=keys) as s:
        assert {name: shown_to(s, name) for name in expected} == expected
        with call(s, "other.a.org") as client:  # this client verifies the name
            client.send(GET)
            assert client.answer().status == 200


def test_a_file_with_both(tmp_path: Path) -> None:
    """A certificate and its key may be in one file, as for HAProxy."""
    certificate, key = issue(tmp_path, "a.org")
    both = tmp_path / "both.pem"
    both.write_text(certificate.read_text() + key.read_text())
    with stage(always(), tls_cert=str(both)) as s, call(s) as client:
        client.send(GET)
        assert client.answer().status == 200


def refused(certificate: Path, key: Path) -> str:
    with pytest.raises(CertificateError) as caught:
        load_identity([(certificate, key)])
    assert caught.value.hint
    return str(caught.value)


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    """An error names the file, says what is wrong with it, and gives a hint."""
    certificate, key = issue(tmp_path, "a.org")
    _, other = issue(tmp_path, "b.org")
    _, locked = issue(tmp_path, "c.org", password=b"secret")
    nothing, junk = tmp_path / "nothing.pem", tmp_path / "junk.pem"
    junk.write_bytes(b"\x30\x82junk\xff")
    broken = tmp_path / "broken.pem"
    broken.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    assert f"{nothing} cannot be read: No such file" in refused(nothing, key)
    assert f"{nothing} cannot be read: No such file" in refused(certificate, nothing)
    assert f"{tmp_path} cannot be read: Is a directory" in refused(tmp_path, key)
    assert f"{junk}: no certificate in it" in refused(junk, key)
    assert f"openssl x509 -inform der -in {junk}" in refused(junk, key)
    assert f"{broken}: a certificate that cannot be read" in refused(broken, key)
    assert f"{junk}: no key in it" in refused(certificate, junk)
    assert f"{certificate}: no key in it" in refused(certificate, certificate)
    assert f"the key in {other} does not belong" in refused(certificate, other)
    assert f"openssl pkey -pubout -in {other}" in refused(certificate, other)
    assert f"the key in {locked} is encrypted" in refused(certificate, locked)
    assert f"openssl pkey -in {locked}" in refused(certificate, locked)


def test_concerns(tmp_path: Path) -> None:
    """There are warnings for certificates that load, but that clients will reject."""
    now = datetime.now(UTC)
    day = timedelta(days=1)
    pairs = [
        issue(tmp_path, "a.org"),
        issue(tmp_path, "old.org", begins=now - 3 * day, ends=now - 2 * day),
        issue(tmp_path, "new.org", begins=now + 2 * day, ends=now + 3 * day),
        issue(tmp_path),
    ]
    identity = load_identity(pairs)
    old, new, nameless = concerns(identity)
    assert f"old.org.pem expired on {now - 2 * day:%Y-%m-%d}" in old
    assert f"new.org.pem is valid from {now + 2 * day:%Y-%m-%d} on" in new
    assert "nameless.pem names no host" in nameless
    assert list(concerns(load_identity(pairs[:1]))) == []


def test_contexts_are_modern(tmp_path: Path) -> None:
    """Contexts have TLS 1.2 or later, no renegotiation, and only strong ciphers."""
    context = load_identity([issue(tmp_path, "a.org")]).context
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert ssl.OP_NO_RENEGOTIATION in context.options
    names = {cipher["name"] for cipher in context.get_ciphers()}
    assert all(name.startswith(("TLS_", "ECDHE-")) for name in names)
    assert all("GCM" in name or "CHACHA20" in name for name in names)
