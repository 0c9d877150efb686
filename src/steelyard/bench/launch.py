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

PATIENCE = 20.0  # for a start, on a loaded machine
FAREWELL = 4.0  # between asking a process to end and killing it


class LaunchError(SteelyardError):
    """A process of the bench did not start."""

    fault = Fault.MACHINE


class Command(NamedTuple):
    """What to run."""

    words: Sequence[str]
    environment: Mapping[str, str] = {}


class Launched:
    """A running process; a context that ends it, with its descendants."""

    def __init__(self, command: Command, core: int | None, log: Path) -> None:
        self._log = log
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                [*pinned(core), *command.words],
                env={**os.environ, **command.environment},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,  # Ctrl-C is ours to handle
            )
        self.pid = self._process.pid

    def __enter__(self) -> Launched:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait_until(self, ready: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
        """Wait for a sign of life; raise with its last words when there is none."""
        deadline = time.monotonic() + patience
        while not ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise LaunchError(f"{what} did not start: {self.last_words()}")
            time.sleep(0.02)

    def kill(self) -> None:
        """Without asking."""
        self._process.kill()
        self._process.wait()

    def last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return " | ".join(lines[-3:]) or "it said nothing"

    def stop(self) -> None:
        """Ask, then insist; nothing of its tree is left."""
        family = _family(self.pid)
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for process in family:
            send(process, signal.SIGKILL)


def pinned(core: int | None) -> list[str]:
    """What goes before a command: a core, if any, and an end when we are killed and cannot stop
    it."""
    words: list[str] = []
    if shutil.which("setpriv"):
        words += ["setpriv", "--pdeathsig", "TERM"]
    return words if core is None else [*words, "taskset", "--cpu-list", str(core)]


def _family(root: int) -> list[Process]:
    stats = (read_stat(pid) for pid in tree(root))
    return [stat.process for stat in stats if stat is not None]
