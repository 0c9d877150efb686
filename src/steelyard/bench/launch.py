"""Processes of the bench: pinned to a core, and stopped however the bench ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from steelyard.bench.usage import tree
from steelyard.errors import Fault, SteelyardError
from steelyard.runtime.procfs import Process, read_stat, send

PATIENCE = 120.0  # seconds; ends a start that hangs: a process that ends is noticed at once
FAREWELL = 4.0  # seconds between asking a process to end and killing it


class LaunchError(SteelyardError):
    """A process of the bench did not start."""

    fault = Fault.MACHINE


class Command(NamedTuple):
    """A command line and its environment."""

    words: Sequence[str]
    environment: Mapping[str, str] = {}


class Launched:
    """A running process; a context manager that ends it, with its descendants."""

    def __init__(self, command: Command, core: int | None, log: Path) -> None:
        self._log = log
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                [*pinned(core), *command.words],
                env={**os.environ, **command.environment},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,  # so that Ctrl-C reaches only us
            )
        self.pid = self._process.pid

    def __enter__(self) -> Launched:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait_until(self, ready: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
        """Wait until the process is ready; otherwise raise an error with the end of its log."""
        deadline = time.monotonic() + patience
        while not ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise LaunchError(f"{what} did not start: {self.last_words()}")
            time.sleep(0.02)

    def kill(self) -> None:
        """Kill the process without asking it to end."""
        self._process.kill()
        self._process.wait()

    def last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return " | ".join(lines[-3:]) or "it said nothing"

    def stop(self) -> None:
        """Ask the process to end, then kill it; none of its descendants are left."""
        members = family(self.pid)
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for process in members:
            send(process, signal.SIGKILL)


def pinned(core: int | None) -> list[str]:
    """The words before a command: they pin it to a core, if one is given, and end it if we are
    killed.
    """
    words: list[str] = []
    if shutil.which("setpriv"):
        words += ["setpriv", "--pdeathsig", "TERM"]
    return words if core is None else [*words, "taskset", "--cpu-list", str(core)]


def family(root: int) -> list[Process]:
    """A process and its descendants."""
    stats = (read_stat(pid) for pid in tree(root))
    return [stat.process for stat in stats if stat is not None]
