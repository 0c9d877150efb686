"""The meanings of lines in Zenoh's log."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from steelyard.mesh.transport.zenoh.complaints import meaning

HINT = ". Hint: increase the system open file limit."


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("received fatal alert: UnknownCA", "a peer refuses our certificate"),
        ("invalid peer certificate: UnknownIssuer", "our authority did not sign"),
        ("peer sent no certificates", "showed no certificate"),
        ("received corrupt message of type InvalidContentType", "does not speak TLS"),
        ("tls handshake eof", "a connection to us failed"),
    ],
)
def test_complaints(said: str, meant: str) -> None:
    """A complaint is told in our words and Zenoh's, without its colours and its hint."""
    line = "\x1b[2m2026-01-01\x1b[0m \x1b[33m WARN\x1b[0m \x1b[2mzenoh_link_tls::unicast\x1b[0m: "
    told = meaning(line + said + HINT + "\n")
    assert told is not None
    assert meant in told
    assert told.endswith(f"({said})")


def test_who_is_no_member_is_told() -> None:
    """A peer with a good certificate that is not among the members is told of."""
    line = (
        "INFO net-0 \x1b[2mzenoh::net::routing::interceptor::access_control\x1b[0m: 1f2b did not "
        "match any configured ACL subject. Default permission `Deny` will be applied on all"
    )
    told = meaning(line + "\n")
    assert told is not None
    assert told.startswith("a peer is not among our members")
    assert told.endswith("(1f2b did not match any configured ACL subject)")


@pytest.mark.parametrize("line", ["Traceback (most recent call last):\n", "WARN zenoh::net: x\n"])
def test_the_rest(line: str) -> None:
    """Lines that are not about a connection are no complaint."""
    assert meaning(line) is None


LISTENING = """
import logging, os, threading
from steelyard.mesh.transport.zenoh import complaints
logging.basicConfig(format="%(message)s")
with complaints.listening():
    (reader,) = [one for one in threading.enumerate() if one.name == "complaints"]
    for text in ("peer sent no certificates", "peer sent no certificates", "tls handshake eof"):
        os.write(1, f"WARN zenoh_link_tls::unicast: {text}\\n".encode())
    os.write(1, b"something else\\n")
    print("ours")
reader.join()
print("after")
"""


def test_a_process_whose_output_nobody_reads_goes_on() -> None:
    """If nobody reads the output, complaints are still logged."""
    words = [sys.executable, "-c", LISTENING.replace("print(", "str(")]
    out, into = os.pipe()
    os.close(out)
    done = subprocess.run(words, stdout=into, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(into)
    assert len(done.stderr.splitlines()) == 2
    assert done.returncode == 0


def test_a_process_hears_its_own_complaints() -> None:
    """A complaint is logged once in a while, and other lines reach the output."""
    words = [sys.executable, "-c", LISTENING]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert sorted(done.stdout.splitlines()) == ["after", "ours", "something else"]
    assert done.stdout.endswith("after\n")
    first, second = done.stderr.splitlines()
    assert "showed no certificate" in first
    assert "a connection to us failed" in second
