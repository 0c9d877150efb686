"""A real gateway: `steelyard up` as a user starts it, on ports and in a folder of its own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from steelyard.cli.client import AgentClient
from steelyard.config.values import Address
from steelyard.core.status import FleetStatus
from steelyard.errors import SteelyardError
from steelyard.supervisor.pidfile import read_pids
from tests.folders import below
from tests.ports import free_port

DEMO = (sys.executable, "-m", "steelyard.demo", "--port", "{port}")
# Decisions in fractions of a second, so that a test need not wait for minutes.
QUICK = (
    "--agent-tick", "0.5", "--scaling-cooldown", "1", "--scaling-dwell-up", "1",
    "--scaling-dwell-down", "3", "--probe-interval", "0.3",
)  # fmt: skip


class Gateway:
    """One `steelyard up`; `home` outlives it, so that the next one can find its workers."""

    def __init__(self, home: Path, *flags: str, command: tuple[str, ...] = DEMO) -> None:
        self.home = home
        self.flags = flags
        self.command = command
        self.port = free_port()
        self.agent_port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.log = home / "up.log"

    @property
    def client(self) -> AgentClient:
        return AgentClient(Address("127.0.0.1", self.agent_port), self.home / "token", timeout=60)

    def start(self, stderr: int | None = None) -> Gateway:
        """Start the gateway, and return at once."""
        words = [
            sys.executable, "-m", "steelyard", "up", "--state", str(self.home),
            "--listen", f"127.0.0.1:{self.port}", "--agent-listen", f"127.0.0.1:{self.agent_port}",
            *self.flags, "--", *self.command,
        ]  # fmt: skip
        self.home.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=stderr or log,
                start_new_session=True,
            )
        return self

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    async def ready(self, workers: int | None = None) -> FleetStatus:
        """Wait until all (or `workers`) workers serve and every balancer knows of them."""

        def serves(told: FleetStatus) -> bool:
            enough = told.ready >= (told.target if workers is None else workers)
            return enough and told.known

        return await self.until(serves)

    async def until(self, true: Callable[[FleetStatus], bool], timeout: float = 150) -> FleetStatus:
        """Wait until a status satisfies the condition, even while the agent does not answer."""
        deadline, told = time.monotonic() + timeout, None
        while time.monotonic() < deadline:
            told = await self.try_status()
            if told is not None and true(told):
                return told
            await asyncio.sleep(0.05)
        raise AssertionError(f"never came true; last: {told}\n{self.output()}")

    async def try_status(self) -> FleetStatus | None:
        try:
            return await asyncio.to_thread(self.client.status)
        except SteelyardError:
            return None

    def get(self, path: str) -> Any:
        """Send a GET through the gateway; return its JSON answer."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return json.loads(answer.read())

    def http(self, path: str) -> int:
        """Send a GET through the gateway; return its status code."""
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=30).status_code

    def cli(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a `steelyard` command for this gateway's agent."""
        agent = "--agent-listen" if words[0] == "down" else "--agent"
        where = ["--state", str(self.home), agent, f"127.0.0.1:{self.agent_port}"]
        done = subprocess.run(
            [sys.executable, "-m", "steelyard", words[0], *where, *words[1:]],
            capture_output=True,
            text=True,
            timeout=150,
        )
        assert not check or done.returncode == 0, done.stderr
        return done

    # The gateway's processes.

    def children(self, part: str) -> list[psutil.Process]:
        """The gateway's agent, or its balancers."""
        assert self.process is not None
        found = psutil.Process(self.process.pid).children()
        return [child for child in found if role_of(child) == part]

    def workers(self) -> list[psutil.Process]:
        """Every process that carries this gateway's mark, whoever its parent is."""
        mark = f"STEELYARD_HOME={self.home}".encode()
        return [p for p in psutil.process_iter() if _carries(p, mark)]

    def worker_pids(self) -> set[int]:
        """The pids of the session leaders: one per worker."""
        return {p.pid for p in self.workers() if os.getsid(p.pid) == p.pid}

    def orphans(self, part: str = "") -> list[psutil.Process]:
        """The living agent and balancers that a killed supervisor left, from its pid file."""
        files = [read_pids(file.parent) for file in below(self.home, "pids.json")]
        entries = [one for pids in files for one in pids.children if one.alive]
        return [psutil.Process(one.pid) for one in entries if part in ("", one.part)]

    # The gateway's end.

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def wait(self, timeout: float | None = None) -> int:
        assert self.process is not None
        return self.process.wait(timeout)

    def stop(self) -> int:
        """Stop the gateway as Ctrl-C does; return its exit status."""
        self.signal(signal.SIGINT)
        return self.wait()

    def destroy(self) -> list[psutil.Process]:
        """End everything by force; return the processes that were still alive."""
        left = [*self.halt(), *self.workers()]
        for process in left:
            _kill(process)
        return left

    def halt(self) -> list[psutil.Process]:
        """End everything but the workers by force; return the processes that were still alive."""
        family: list[psutil.Process] = []
        if self.process is not None and self.process.poll() is None:
            family = psutil.Process(self.process.pid).children(recursive=True)
            self.process.kill()
            self.process.wait()
        family += self.orphans()
        for process in family:
            _kill(process)
        return family


# A scenario with this mark runs on each runtime.
each_runtime = pytest.mark.parametrize(
    "gateway",
    ["process", *(pytest.param(it, marks=pytest.mark.needs(it)) for it in ("docker", "swarm"))],
    indirect=True,
)


def role_of(process: psutil.Process) -> str:
    """The role in the command line of a process: `agent`, `balancer`, or nothing."""
    try:
        words = " ".join(process.cmdline())
    except psutil.Error:
        return ""
    match = re.search(r"steelyard\.supervisor\.entry \d+ (agent|balancer)", words)
    return match[1] if match else ""


def _carries(process: psutil.Process, mark: bytes) -> bool:
    try:
        with open(f"/proc/{process.pid}/environ", "rb") as file:
            marked = any(entry.startswith(mark) for entry in file.read().split(b"\0"))
        return marked and process.status() != psutil.STATUS_ZOMBIE
    except (OSError, psutil.Error):
        return False


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return
