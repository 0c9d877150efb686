"""Tests of the lines of the access log, and of processes that write them."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from steelyard.balancer.control.access_log_writer import (
    FORMATS,
    AccessLogWriter,
    as_combined,
    as_json,
)
from steelyard.balancer.exchange.access_log import COMPLETE, AccessLog, Note
from steelyard.balancer.http.heads import RequestHead
from steelyard.errors import UsageError
from tests.balancer.stage import GET, PATIENCE, Wire, always, until
from tests.balancer.test_process import balancer, fixed, worker

CLOCK = 1_700_000_000.0  # 2023-11-14 22:13:20


def note(target: bytes = b"/", *lines: bytes) -> Note:
    head = RequestHead(b"GET", b"\r\n".join((b"GET %b HTTP/1.1" % target, *lines)), True)
    head.host = b"a.org"
    head.request_id = b"p-1"
    return Note(1.5, 1.75, b"192.0.2.7", head, 200, 12, "w", COMPLETE)


def test_json() -> None:
    """A JSON line has all fields of a note by name."""
    assert json.loads(as_json(note(b"/x", b"User-Agent: a\xfc", b"Referer: r"), CLOCK)) == {
        "time": "2023-11-14T22:13:21.500+00:00",
        "client": "192.0.2.7",
        "method": "GET",
        "host": "a.org",
        "target": "/x",
        "protocol": "HTTP/1.1",
        "status": 200,
        "bytes": 12,
        "seconds": 0.25,
        "worker": "w",
        "outcome": "complete",
        "request_id": "p-1",
        "referer": "r",
        "user_agent": "aü",
    }


def test_combined() -> None:
    """A line in the combined log format has its fields in order, and "-" for missing ones."""
    start = "192.0.2.7 - - [14/Nov/2023:22:13:21 +0000]"
    full = note(b"/x", b"user-agent: curl/8", b"Referer: http://r/")
    line = f'{start} "GET /x HTTP/1.1" 200 12 "http://r/" "curl/8"'
    assert as_combined(full, CLOCK) == line
    bare = full._replace(head=None, status=400, size=0)
    assert as_combined(bare, CLOCK) == f'{start} "-" 400 - "-" "-"'
    assert json.loads(as_json(bare, CLOCK))["method"] == ""


COMBINED = re.compile(r'\S+ - - \[[^]]*\] "[^"]*" [0-9]{3} ([0-9]+|-) "[^"]*" "[^"]*"')


@given(st.binary().map(lambda raw: raw.replace(b" ", b"")), st.binary(), st.binary())
@example(b"\r\n", b'"', b"\x7f\\")
def test_no_client_can_forge_a_line(target: bytes, referer: bytes, agent: bytes) -> None:
    """Whatever a client sends, its line is one line of printable ASCII with all fields in place."""
    nasty = note(target, b"Referer: " + referer, b"User-Agent: " + agent)
    for form in FORMATS.values():
        line = form(nasty, CLOCK)
        assert line.isascii()
        assert line.isprintable()
    assert COMBINED.fullmatch(as_combined(nasty, CLOCK))
    assert json.loads(as_json(nasty, CLOCK))["target"] == target.decode("latin-1")


def test_a_full_disk(caplog: pytest.LogCaptureFixture) -> None:
    """Lines that cannot be written are counted, and the log says so."""
    access_log = AccessLog()
    writer = AccessLogWriter("/dev/full", "json", access_log)
    for _ in range(3):
        access_log.note(note())
    writer.flush()
    access_log.dropped += 2
    writer.flush()
    told = [record.message for record in caplog.records]
    assert "3 lines were dropped" in told[1]
    assert "2 lines were dropped" in told[2]


def test_a_place_that_is_none(tmp_path: Path) -> None:
    """An access log that cannot be opened is an error that names the file."""
    with pytest.raises(UsageError, match="nowhere"):
        AccessLogWriter(str(tmp_path / "nowhere" / "log"), "json", AccessLog())


def test_reopening_that_fails_keeps_the_old_file(tmp_path: Path) -> None:
    """When a log cannot be reopened, lines still go to the old file."""
    folder = tmp_path / "logs"
    folder.mkdir()
    access_log = AccessLog()
    writer = AccessLogWriter(str(folder / "log"), "json", access_log)
    folder.rename(tmp_path / "moved")
    access_log.reopen = True
    access_log.note(note())
    writer.flush()
    assert len((tmp_path / "moved" / "log").read_text().splitlines()) == 1


# Tests with real processes


def ask(port: int, target: bytes) -> None:
    with Wire(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)) as client:
        client.send(GET.replace(b"GET / ", b"GET " + target + b" "))
        assert client.answer().status == 200


def targets(path: Path) -> list[str]:
    if not path.exists():
        return []
    return [json.loads(line)["target"] for line in path.read_text().splitlines()]


def test_a_process_that_writes(tmp_path: Path) -> None:
    """Each request has a line, SIGUSR1 reopens the file, and SIGTERM loses no line."""
    path, moved = tmp_path / "log", tmp_path / "log.1"
    path.write_text('{"target": "before"}\n')
    with worker(always()) as w, balancer(*fixed(w), access_log=str(path)) as b:
        ask(b.port, b"/one")
        until(lambda: targets(path) == ["before", "/one"])
        path.rename(moved)
        ask(b.port, b"/two")
        until(lambda: targets(moved) == ["before", "/one", "/two"])
        b.process.send_signal(signal.SIGUSR1)
        until(path.exists)
        ask(b.port, b"/three")
        b.process.send_signal(signal.SIGTERM)
        assert b.process.wait(PATIENCE) == 0
        assert targets(path) == ["/three"]
        assert len(targets(moved)) == 3


def test_usr1_without_a_log() -> None:
    """A balancer without an access log survives SIGUSR1."""
    with worker(always()) as w, balancer(*fixed(w)) as b:
        b.process.send_signal(signal.SIGUSR1)
        ask(b.port, b"/")


def test_the_whole_gateway(tmp_path: Path) -> None:
    """The processes of a gateway write to one file, and SIGUSR1 to the parent reopens it."""
    path = tmp_path / "log"
    program = "from steelyard.cli.main import run; run()"
    with worker(always()) as w:
        command = [sys.executable, "-c", program, "balancer", "--listen", "127.0.0.1:0"]
        command += ["--worker", f"127.0.0.1:{w.port}", "--gateway-access-log", str(path)]
        environment = {**os.environ, "STEELYARD_STATE": str(tmp_path)}
        with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment) as gateway:
            assert gateway.stderr is not None
            line = next(line for line in gateway.stderr if b"serving on" in line)
            port = int(re.search(rb":([0-9]+),", line)[1])
            for number in range(20):
                ask(port, b"/%d" % number)
            until(lambda: len(targets(path)) == 20)
            path.rename(tmp_path / "log.1")
            gateway.send_signal(signal.SIGUSR1)
            until(path.exists)
            gateway.send_signal(signal.SIGTERM)
            assert gateway.wait(PATIENCE) == 0
