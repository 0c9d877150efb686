"""A demo worker as a real process on a free port."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest

from tests.ports import free_port

BOOT = 30.0


@dataclass(frozen=True)
class Running:
    """A worker, its address and a client for it."""

    process: subprocess.Popen[bytes]
    port: int
    client: httpx.Client


def wait_until_ready(process: subprocess.Popen[bytes], client: httpx.Client) -> None:
    """Ask until an answer comes: a worker has no other way to say that it is ready."""
    deadline = time.monotonic() + BOOT
    while time.monotonic() < deadline and process.poll() is None:
        try:
            client.get("/health").raise_for_status()
            return
        except httpx.TransportError:
            time.sleep(0.01)
    pytest.fail(f"the demo did not start: exit code {process.poll()}")


@contextmanager
def running(worker: str = "demo-1") -> Iterator[Running]:
    port = free_port()
    command = [sys.executable, "-m", "steelyard.demo", "--port", str(port)]
    environ = {**os.environ, "STEELYARD_WORKER": worker}
    process = subprocess.Popen(command, env=environ)
    try:
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", timeout=30, trust_env=False
        ) as client:
            wait_until_ready(process, client)
            yield Running(process, port, client)
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def demo() -> Iterator[Running]:
    """One worker for all tests that leave it alive."""
    with running() as worker:
        yield worker


@pytest.fixture
def mortal() -> Iterator[Running]:
    """A worker for a single test that ends it."""
    with running("mortal") as worker:
        yield worker
