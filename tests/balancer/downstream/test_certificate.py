"""Tests of reading certificates, with certificates that another library has written."""

from __future__ import annotations

import contextlib
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.downstream.certificate import read_certificate
from steelyard.errors import MalformedError
from tests.balancer.authority import issue, root_file
from tests.strict import complaints


def test_names_and_times(tmp_path: Path) -> None:
    """Host names are read in order and in lower case, without IP addresses; times may be before
    2000 and after 2050."""
    begins, ends = datetime(1999, 12, 31, 23, 59, 58, tzinfo=UTC), datetime(2051, 2, 3, tzinfo=UTC)
    names = ("a.org", "*.B.org", "127.0.0.1", "::1", "xn--gre-6ka8l.de")
    file, _ = issue(tmp_path, *names, begins=begins, ends=ends)
    read = read_certificate(file.read_text())
    assert read.names == ("a.org", "*.b.org", "xn--gre-6ka8l.de")
    assert (read.begins, read.ends) == (begins, ends)


@pytest.mark.needs("openssl")
def test_a_strict_check_finds_nothing_wrong_with_the_certificates_of_tests(tmp_path: Path) -> None:
    """The tests' certificates are strictly valid, since Python 3.13 and later check strictly."""
    file, _ = issue(tmp_path, "a.org")
    for certificate in (root_file(tmp_path), file):
        assert complaints(root_file(tmp_path), certificate) == ""


def test_many_names(tmp_path: Path) -> None:
    """A certificate whose DER lengths take more than one byte is read."""
    names = tuple(f"host-{number}.example.org" for number in range(5000))
    file, _ = issue(tmp_path, *names, stem="many")
    assert read_certificate(file.read_text()).names == names


def test_no_names(tmp_path: Path) -> None:
    """A certificate without the extension subjectAltName has no names."""
    file, _ = issue(tmp_path)
    assert read_certificate(file.read_text()).names == ()


def test_the_first_of_a_chain_counts(tmp_path: Path) -> None:
    """Only the first certificate of a chain counts, and text around it is ignored."""
    first, second = issue(tmp_path, "a.org")[0], issue(tmp_path, "b.org")[0]
    text = f"subject=A\n{first.read_text()}\n{second.read_text()}"
    assert read_certificate(text).names == ("a.org",)


def test_no_certificate(tmp_path: Path) -> None:
    """An empty text, another text and a key are refused, since they contain no certificate."""
    _, key = issue(tmp_path, "a.org")
    for text in ("", "hello", key.read_text()):
        with pytest.raises(MalformedError, match="no certificate"):
            read_certificate(text)


@pytest.fixture(scope="module")
def der(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file, _ = issue(tmp_path_factory.mktemp("c"), "a.org")
    return ssl.PEM_cert_to_DER_cert(file.read_text().partition("-----END")[0] + END)


END = "-----END CERTIFICATE-----\n"


@given(data=st.data())
def test_damage(der: bytes, data: st.DataObject) -> None:
    """A damaged certificate is read or refused with MalformedError, and raises no other error."""
    place = data.draw(st.integers(0, len(der) - 1))
    value = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(1, len(der)))
    damaged = (der[:place] + bytes([value]) + der[place + 1 :])[:cut]
    with contextlib.suppress(MalformedError):
        read = read_certificate(ssl.DER_cert_to_PEM_cert(damaged))
        assert len(damaged) == len(der)
        assert read.ends.tzinfo is UTC
