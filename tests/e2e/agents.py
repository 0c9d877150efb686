"""Agents that take turns as the leader: several `steelyard agent --lease` in one state folder."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.e2e.gateway import DEMO, QUICK, Gateway


class Agent:
    """One `steelyard agent`, and its log."""

    def __init__(self, home: Path, port: int, store: str, lease: float) -> None:
        self.port = port
        self._log = home / f"agent-{port}-{id(self)}.log"
        words = [
            sys.executable, "-m", "steelyard", "agent", "--state", str(home),
            "--agent-listen", f"127.0.0.1:{port}", "--store", store, "--lease", str(lease),
            "--agent-on-stop", "leave", "--min", "2", "--max", "3", *QUICK, "--", *DEMO,
        ]  # fmt: skip
        home.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=log)

    def said(self) -> str:
        return self._log.read_text(errors="replace")

    def terms(self) -> int:
        """How often the agent became the leader."""
        return len(re.findall(r"this agent leads now, as ", self.said()))

    def stands_by(self) -> bool:
        return "standby: " in self.said()

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def destroy(self) -> None:
        self.process.kill()
        self.process.wait()


def view(home: Path, agent: Agent) -> Gateway:
    """The fleet as a test sees it, through this agent's port."""
    gateway = Gateway(home)
    gateway.agent_port = agent.port
    gateway.log.touch()
    return gateway
