"""Complaints: why somebody who connected to us was turned away.

Who joins tries again by hand and learns it (`diagnosis`). Who is joined cannot: Zenoh tells only
its log, on the standard output of the process. So that goes through a pipe, for processes that are
ours (`steelyard mesh worker`); what is not a complaint is passed on as it is.
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
LEVEL = f"{_LINKS}=warn,{_ACCESS}=info"  # unless RUST_LOG asks for another
STILL = 60.0  # seconds for which the same is not said again: who is turned away comes back at once
OUTPUT = 1  # the file descriptor
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Its hint, to increase the limit of open files, is for another trouble.
_COMPLAINT = re.compile(rf"(?:{_LINKS}|{_ACCESS}): (.*?)(?:\. (?:Hint: |Default).*)?$")
_MEANINGS = (
    ("received fatal alert", "who connected refuses our certificate: is it of another authority?"),
    ("invalid peer certificate", "who connected has a certificate that is not of our authority"),
    ("no certificates", "who connected showed no certificate; `steelyard mesh certs` makes them"),
    ("any configured acl subject", "who connected is not among our members (--member)"),
    ("corrupt message", "who connected does not speak TLS: it should join tls/…"),
)


@contextmanager
def listening() -> Iterator[None]:
    """Within, complaints of this process's Zenoh are told in our own log.

    `sys.stdout` goes past the pipe: what we say there is nobody's complaint.
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
    """A copy of the standard output; who was started without one has one that nobody reads."""
    with suppress(OSError):
        return os.dup(OUTPUT)
    nothing = os.open(os.devnull, os.O_WRONLY)  # the first number that is free, so perhaps this one
    if nothing != OUTPUT:
        os.dup2(nothing, OUTPUT)
    return os.dup(OUTPUT)


def meaning(line: str) -> str | None:
    """What a line of Zenoh's log complains of, for people; None when it does not."""
    found = _COMPLAINT.search(_COLOUR.sub("", line).rstrip())
    if found is None:
        return None
    said = found[1]
    known = (meant for words, meant in _MEANINGS if words in said.lower())
    return f"{next(known, 'a connection to us came to nothing')} ({said})"


def _read(out: int, real: int) -> None:
    told: dict[str, float] = {}
    with open(out, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            complaint = meaning(line)
            if complaint is None:
                with suppress(OSError):  # nobody reads it
                    os.write(real, line.encode())
            elif monotonic() - told.get(complaint, -STILL) >= STILL:
                told[complaint] = monotonic()
                log.warning("%s", complaint)
