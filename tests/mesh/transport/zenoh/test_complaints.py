"""What Zenoh's log means."""

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
        ("received fatal alert: UnknownCA", "who connected refuses our certificate"),
        ("invalid peer certificate: UnknownIssuer", "not of our authority"),
        ("peer sent no certificates", "showed no certificate"),
        ("received corrupt message of type InvalidContentType", "does not speak TLS"),
        ("tls handshake eof", "came to nothing"),
    ],
)
def test_complaints(said: str, meant: str) -> None:
    """In our words, with Zenoh's behind them, but for its colours and its hint."""
    line = "\x1b[2m2026-01-01\x1b[0m \x1b[33m WARN\x1b[0m \x1b[2mzenoh_link_tls::unicast\x1b[0m: "
    told = meaning(line + said + HINT + "\n")
    assert told is not None
    assert meant in told
    assert told.endswith(f"({said})")


def test_who_is_no_member_is_told() -> None:
    """Its certificate is good, but its name is not among those that may take part."""
    line = (
        "INFO net-0 \x1b[2mzenoh::net::routing::interceptor::access_control\x1b[0m: 1f2b did not "
        "match any configured ACL subject. Default permission `Deny` will be applied on all"
    )
    told = meaning(line + "\n")
    assert told is not None
    assert told.startswith("who connected is not among our members")
    assert told.endswith("(1f2b did not match any configured ACL subject)")


@pytest.mark.parametrize("line", ["Traceback (most recent call last):\n", "WARN zenoh::net: x\n"])
def test_the_rest(line: str) -> None:
    """What is not about a connection is none of ours."""
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
    """What is passed on is lost, what is a complaint is told."""
    words = [sys.executable, "-c", LISTENING.replace("print(", "str(")]
    out, into = os.pipe()
    os.close(out)
    done = subprocess.run(words, stdout=into, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(into)
    assert len(done.stderr.splitlines()) == 2
    assert done.returncode == 0


def test_a_process_hears_its_own_complaints() -> None:
    """Each of them once in a while; what is none goes where it was to go."""
    words = [sys.executable, "-c", LISTENING]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert sorted(done.stdout.splitlines()) == ["after", "ours", "something else"]
    assert done.stdout.endswith("after\n")
    first, second = done.stderr.splitlines()
    assert "showed no certificate" in first
    assert "came to nothing" in second
