"""A real `steelyard balancer` with a configuration file to edit, and its messages."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil

from tests.balancer.stage import PATIENCE, Wire
from tests.e2e.gateway import role_of
from tests.ports import free_port

LONG = 150.0  # seconds for several Python processes to start on a busy machine


class Proxy:
    """A `steelyard balancer`; `configure` writes its file, which it reads again on SIGHUP."""

    def __init__(self, folder: Path, ports: list[int], **gateway: object) -> None:
        self.file = folder / "steelyard.toml"
        self.port = free_port()
        self.keys: dict[str, object] = {
            "listen": f"127.0.0.1:{self.port}",
            "processes": 2,
            "workers": [f"127.0.0.1:{port}" for port in ports],
        }
        self.lines: list[str] = []
        self._news = threading.Condition()
        self.configure(**gateway)

    def configure(self, **gateway: object) -> None:
        """Change keys of the configuration file."""
        self.keys.update(gateway)
        lines = [f"{key} = {json.dumps(value)}" for key, value in self.keys.items()]
        self.file.write_text("\n".join(['state = "state"', "[gateway]", *lines, ""]))

    def start(self, *wrapper: str, **options: object) -> Proxy:
        """Start the balancer; return when it says that it serves."""
        self.lines = []
        words = [sys.executable, "-m", "steelyard", "balancer", "--config", str(self.file)]
        self.process = subprocess.Popen(
            [*wrapper, *words], stderr=subprocess.PIPE, text=True, **options
        )
        threading.Thread(target=self._listen, daemon=True).start()
        self.says("serving on http://")
        return self

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._news:
                self.lines.append(line.rstrip())
                self._news.notify_all()

    def says(self, text: str, times: int = 1) -> None:
        """Wait until so many lines of output have this text."""

        def said() -> bool:
            return sum(text in line for line in self.lines) >= times

        with self._news:
            assert self._news.wait_for(said, LONG), f"{text!r} was not said: {self.lines}"

    def hang_up(self) -> None:
        self.process.send_signal(signal.SIGHUP)

    def reload(self, **gateway: object) -> None:
        """Change the file, send SIGHUP, and wait until the new balancers serve."""
        done = sum("reloaded:" in line for line in self.lines)
        self.configure(**gateway)
        self.hang_up()
        self.says("reloaded:", done + 1)

    def balancers(self) -> list[psutil.Process]:
        found = psutil.Process(self.process.pid).children()
        return [child for child in found if role_of(child) == "balancer"]

    def settles_at(self, count: int) -> None:
        """Wait until there are exactly so many balancers."""
        end = time.monotonic() + LONG
        while len(self.balancers()) != count:
            assert time.monotonic() < end, self.lines
            time.sleep(0.02)

    def call(self, port: int | None = None) -> Wire:
        return Wire(socket.create_connection(("127.0.0.1", port or self.port), timeout=PATIENCE))

    def close(self) -> int:
        """Stop the balancer as systemd does; return its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(LONG)
        finally:
            if self.process.poll() is None:
                left = self.balancers()  # balancers that would go on without their supervisor
                os.kill(self.process.pid, signal.SIGKILL)
                self.process.wait()
                for balancer in left:
                    balancer.kill()
