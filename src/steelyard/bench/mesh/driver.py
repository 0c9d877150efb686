"""The process of a contender's driver, which is told to run units."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from steelyard.bench.mesh.contenders import Contender
from steelyard.bench.usage import cpu_of, tree
from steelyard.errors import Fault, SteelyardError
from steelyard.runtime.procfs import read_stat, send

FAREWELL = 20.0  # seconds between the end of its input and a kill


class DriverError(SteelyardError):
    """A contender did not do what it was told."""

    fault = Fault.MACHINE


class Run(NamedTuple):
    """What a batch of units took."""

    seconds: float
    cpu: float  # seconds, of all its processes
    messages: float | None


class Driver:
    """The driver of one contender, up and warm; a context manager that ends it and its
    descendants.
    """

    def __init__(self, contender: Contender, log: Path) -> None:
        self._contender, self._log = contender, log
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                contender.words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
                start_new_session=True,  # so that Ctrl-C reaches only us
                text=True,
            )
        self._answer()

    def run(self, units: int, milliseconds: float) -> Run:
        """Let the driver run units, and measure them."""
        assert self._process.stdin is not None  # noqa: S101 - it was asked for
        before = cpu_of(self._process.pid).total
        self._process.stdin.write(f"{units} {milliseconds}\n")
        self._process.stdin.flush()
        told = self._answer()
        return Run(told["seconds"], cpu_of(self._process.pid).total - before, told.get("messages"))

    def _answer(self) -> dict[str, float]:
        assert self._process.stdout is not None  # noqa: S101 - it was asked for
        for line in self._process.stdout:
            word, _, rest = line.partition(" ")
            if word == "driver":
                told: dict[str, float] = json.loads(rest)
                return told
        words = self._log.read_text(errors="replace").strip().splitlines()[-1:]
        raise DriverError(f"{self._contender.name} ended: {' '.join(words) or 'it said nothing'}")

    def __enter__(self) -> Driver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        family = [stat.process for pid in tree(self._process.pid) if (stat := read_stat(pid))]
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for one in family:
            send(one, signal.SIGKILL)
