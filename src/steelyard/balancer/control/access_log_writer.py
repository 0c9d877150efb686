"""AccessLogWriter: formats notes as lines and writes them to a file, in a thread of its own.

The writer appends lines in batches, each with one write of whole lines to a file opened with
O_APPEND. So several processes may share the file, and it may be moved at any time. After SIGUSR1,
the writer opens the file again. Text from clients is escaped, so that it can neither begin a line
nor end a field.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from steelyard.balancer.exchange.access_log import AccessLog, Note
from steelyard.balancer.http.heads import RequestHead
from steelyard.errors import UsageError

log = logging.getLogger(__name__)

EVERY = 0.25
BATCH = 1000
STDOUT = "-"
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
# Like nginx, escape octets that are not printable ASCII, and octets that could end a quoted field.
_ESCAPES = {
    code: f"\\x{code:02X}" for code in range(256) if not 0x20 <= code < 0x7F or chr(code) in '"\\'
}


_VERSION = re.compile(rb"HTTP/[0-9]\.[0-9]")
_NO_HEAD = RequestHead(b"", b"  HTTP/1.1", True)


def as_json(note: Note, clock: float) -> str:
    """Format a note as a JSON object; `clock` is the wall clock's time at the loop's time 0."""
    head = note.head or _NO_HEAD
    when = datetime.fromtimestamp(clock + note.began, UTC)
    line = json.dumps(
        {
            "time": when.isoformat(timespec="milliseconds"),
            "client": _text(note.peer),
            "method": _text(head.method),
            "host": _text(head.host),
            "target": _text(head.target),
            "protocol": _protocol(head),
            "status": note.status,
            "bytes": note.size,
            "seconds": round(note.ended - note.began, 6),
            "worker": note.worker,
            "outcome": note.outcome,
            "request_id": _text(head.request_id),
            "referer": _text(_field(head, b"referer")),
            "user_agent": _text(_field(head, b"user-agent")),
        }
    )
    return line.replace("\x7f", "\\u007f")  # json does not escape this control character


def as_combined(note: Note, clock: float) -> str:
    """Format a note in the combined log format of Apache and nginx."""
    head = note.head
    when = datetime.fromtimestamp(clock + note.began, UTC)  # strftime's month depends on the locale
    stamp = f"{when:%d}/{_MONTHS[when.month - 1]}/{when:%Y:%H:%M:%S} +0000"
    line = referer = agent = "-"
    if head is not None:
        line = f"{_escaped(head.method)} {_escaped(head.target)} {_protocol(head)}"
        referer = _escaped(_field(head, b"referer")) or "-"
        agent = _escaped(_field(head, b"user-agent")) or "-"
    size = note.size or "-"
    return f'{_text(note.peer)} - - [{stamp}] "{line}" {note.status} {size} "{referer}" "{agent}"'


FORMATS: dict[str, Callable[[Note, float], str]] = {"json": as_json, "combined": as_combined}


class AccessLogWriter:
    """Writes the notes of an access log to its file until `finish`."""

    def __init__(self, path: str, form: str, access_log: AccessLog) -> None:
        self._path = path
        self._format = FORMATS[form]
        self._access_log = access_log
        self._file = self._open()
        self._lost = 0  # lines that could not be written
        self._told = 0  # lost and dropped lines that were reported in the log
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._run, name="access-log", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def finish(self, timeout: float) -> None:
        """Write the remaining notes and end the thread."""
        self._finished.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        while not self._finished.wait(EVERY):
            self.flush()
        self.flush()

    def flush(self) -> None:
        """Write all waiting notes."""
        if self._access_log.reopen:
            self._access_log.reopen = False
            self._reopen()
        clock = time.time() - time.monotonic()
        while notes := self._access_log.take(BATCH):
            lines = [self._format(note, clock) for note in notes]
            self._write("\n".join((*lines, "")).encode("ascii"), len(lines))
        self._tell()

    def _write(self, data: bytes, lines: int) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            if not self._lost:
                log.error("access log %s: %s", self._path, error.strerror)
            self._lost += lines

    def _tell(self) -> None:
        lost = self._access_log.dropped + self._lost
        if lost > self._told:
            log.warning("access log: %d lines were dropped", lost - self._told)
            self._told = lost

    def _open(self) -> int:
        if self._path == STDOUT:
            return sys.stdout.fileno()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(self._path, flags, 0o640)
        except OSError as error:
            raise UsageError(
                f"the access log {self._path} cannot be opened: {error.strerror}",
                hint="gateway.access_log is a file in a folder that exists, - or none",
            ) from error

    def _reopen(self) -> None:
        if self._path == STDOUT:
            return
        try:
            new = self._open()
        except UsageError as error:
            log.error("%s; the old file is used on", error)
            return
        os.close(self._file)
        self._file = new


def _protocol(head: RequestHead) -> str:
    """Return the client's version of HTTP. A request that was refused for its version has another
    one than 1.0 and 1.1. The text of an HTTP/1.0 request is not used, because it holds the version
    that its worker got."""
    if not head.http11:
        return "HTTP/1.0"
    said = head.text.partition(b"\r\n")[0].rpartition(b" ")[2]
    return _text(said) if _VERSION.fullmatch(said) else "HTTP/1.1"


def _field(head: RequestHead, name: bytes) -> bytes:
    for line in head.lines:
        key, _, value = line.partition(b":")
        if key.lower() == name:
            return value.strip(b" \t")
    return b""


def _text(raw: bytes) -> str:
    return raw.decode("latin-1")


def _escaped(raw: bytes) -> str:
    return _text(raw).translate(_ESCAPES)
