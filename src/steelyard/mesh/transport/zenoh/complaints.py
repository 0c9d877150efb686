"""Complaints: why a peer that connected to us was turned away.

A node that joins tries again by itself and learns the reason (`diagnosis`). The node that it joins
cannot: Zenoh tells only its log, on the standard output of the process. So in processes that are
ours (`steelyard mesh worker`) that output goes through a pipe; lines that are no complaint are
passed on unchanged.
"""

from __future__ import annotations

import io
import logging
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic

import zenoh

log = logging.getLogger(__name__)

_LINKS, _ACCESS = "zenoh_link_tls::unicast", "zenoh::net::routing::interceptor::access_control"
LEVEL = f"{_LINKS}=warn,{_ACCESS}=info"  # the log level, unless RUST_LOG sets another
# Seconds before a complaint is repeated: a peer that is turned away comes back at once.
STILL = 60.0
OUTPUT = 1  # the file descriptor
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# The hint that follows, to increase the limit of open files, is for another trouble.
_COMPLAINT = re.compile(rf"(?:{_LINKS}|{_ACCESS}): (.*?)(?:\. (?:Hint: |Default).*)?$")
_MEANINGS = (
    ("received fatal alert", "a peer refuses our certificate: is the peer of another authority?"),
    ("invalid peer certificate", "a peer has a certificate that our authority did not sign"),
    ("no certificates", "a peer showed no certificate; `steelyard mesh certs` makes them"),
    ("any configured acl subject", "a peer is not among our members (--member)"),
    ("corrupt message", "a peer does not speak TLS: it should join tls/…"),
)


@contextmanager
def listening() -> Iterator[None]:
    """Within this context, complaints of this process's Zenoh are told in our own log.

    `sys.stdout` goes past the pipe: our own output is no complaint.
    """
    before = sys.stdout
    real = _output()
    out, into = os.pipe()
    os.dup2(into, OUTPUT)
    os.close(into)
    sys.stdout = io.TextIOWrapper(io.FileIO(real, "w", closefd=False), line_buffering=True)
    threading.Thread(target=_read, args=(out, real), name="complaints", daemon=True).start()
    zenoh.init_log_from_env_or(LEVEL)
    try:
        yield
    finally:
        sys.stdout = before
        os.dup2(real, OUTPUT)


def _output() -> int:
    """A copy of the standard output; a process that was started without one gets /dev/null."""
    with suppress(OSError):
        return os.dup(OUTPUT)
    # `os.open` gives the lowest free number, so perhaps OUTPUT itself.
    nothing = os.open(os.devnull, os.O_WRONLY)
    if nothing != OUTPUT:
        os.dup2(nothing, OUTPUT)
    return os.dup(OUTPUT)


def meaning(line: str) -> str | None:
    """What a line of Zenoh's log complains of, as a sentence for people; None for other lines."""
    found = _COMPLAINT.search(_COLOUR.sub("", line).rstrip())
    if found is None:
        return None
    said = found[1]
    known = (meant for words, meant in _MEANINGS if words in said.lower())
    return f"{next(known, 'a connection to us failed')} ({said})"


def _read(out: int, real: int) -> None:
    told: dict[str, float] = {}
    with open(out, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            complaint = meaning(line)
            if complaint is None:
                with suppress(OSError):  # nobody reads our output
                    os.write(real, line.encode())
            elif monotonic() - told.get(complaint, -STILL) >= STILL:
                told[complaint] = monotonic()
                log.warning("%s", complaint)
