"""How a demo worker begins and ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from tests.demo.conftest import Running


def test_crash_exits_at_once_with_3(mortal: Running) -> None:
    """A crash gives no answer and cleans nothing up."""
    with pytest.raises(httpx.TransportError):
        mortal.client.post("/crash")
    assert mortal.process.wait() == 3


def test_hang_takes_the_health_check_with_it(mortal: Running) -> None:
    """The port still accepts, but nothing answers any more."""
    assert mortal.client.get("/hang").status_code == 200
    with pytest.raises(httpx.ReadTimeout):
        mortal.client.get("/health", timeout=httpx.Timeout(None, read=0.5))
    assert mortal.process.poll() is None


def test_sigterm_finishes_what_is_open(mortal: Running) -> None:
    """An answer too large for any buffer still comes whole; the exit code is 0."""
    size = 50_000_000
    with mortal.client.stream("GET", f"/bytes?size={size}") as answer:
        mortal.process.send_signal(signal.SIGTERM)
        assert sum(len(piece) for piece in answer.iter_raw()) == size
    assert mortal.process.wait() == 0


def test_sigterm_does_not_wait_for_idle_connections(mortal: Running) -> None:
    """A balancer's kept-alive connection holds nobody up."""
    with socket.create_connection(("127.0.0.1", mortal.port)) as idle:
        idle.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        assert idle.recv(65536).endswith(b"ok\n")
        mortal.process.send_signal(signal.SIGTERM)
        assert mortal.process.wait() == 0
        assert idle.recv(1) == b""


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    base = {name: value for name, value in os.environ.items() if name != "PORT"}
    return subprocess.run(
        [sys.executable, "-m", "steelyard.demo", *arguments],
        env={**base, **environ},
        capture_output=True,
        text=True,
        timeout=30,
    )


def test_a_port_is_needed() -> None:
    """Without a port the worker says so and exits with 2."""
    result = run()
    assert result.returncode == 2
    assert "--port or $PORT is needed" in result.stderr


def test_a_taken_port_is_told(demo: Running) -> None:
    """A port from the environment that is in use is a failure with a reason."""
    result = run(PORT=str(demo.port))
    assert result.returncode != 0
    assert "address already in use" in result.stderr
