"""The backend of all proxies: nginx for HTTP, an echo for WebSocket messages."""

from __future__ import annotations

from pathlib import Path

from steelyard.bench.balancer.cases import CASES, SMALL, Case, Kind
from steelyard.bench.launch import Command, Launched
from steelyard.bench.ports import HOST, accepts, fetch, free_port
from steelyard.bench.proxies.base import Member
from steelyard.bench.proxies.nginx import nginx_command
from steelyard.python import module

FIELDS_PATH = "/fields"  # its answer lists the fields that the proxy added
COUNTS_PATH = "/counts"  # its answer counts the connections and the requests so far

_SERVER = """
  default_type application/octet-stream;
  sendfile on; tcp_nopush on; open_file_cache max=16;
  server {{
    listen {host}:{port} backlog=4096;
    root {folder};
    location = /fields {{
      return 200 "$http_x_forwarded_for|$http_x_forwarded_proto|$http_via";
    }}
    location = /counts {{ stub_status; }}
    location = /{small} {{ return 200 "{text}"; }}
  }}
"""


class Backend:
    """One running server; a context manager that ends it."""

    def __init__(self, kind: Kind, folder: Path, core: int) -> None:
        port = free_port()
        command = _echo(port) if kind is Kind.WEBSOCKET else _nginx(port, folder)
        self.member = Member(port)
        self._kind = kind
        self._server = Launched(command, core, folder / "log")

    def __enter__(self) -> Backend:
        try:
            self._server.wait_until(lambda: accepts(self.member.port), "the backend")
        except BaseException:
            self._server.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def accepted(self) -> int | None:
        """How many connections the backend has accepted, including the one of this question."""
        if self._kind is Kind.WEBSOCKET:
            return None
        words = fetch(self.member.port, "GET", COUNTS_PATH).body.split()
        return int(words[words.index(b"requests") + 1])


def _nginx(port: int, folder: Path) -> Command:
    for case in CASES:
        if case.size > SMALL:
            _write(folder, case)
    text = "x" * SMALL  # a literal, so that a small answer does not cost the backend a file
    server = _SERVER.format(host=HOST, port=port, folder=folder, small=SMALL, text=text)
    return nginx_command(folder, server)


def _write(folder: Path, case: Case) -> None:
    (folder / case.path.lstrip("/")).write_bytes(b"x" * case.size)


def _echo(port: int) -> Command:
    return Command(module("steelyard.bench.balancer.websocket_echo", str(port)))
