"""Nodes as processes, to be killed, stopped and slowed down."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from types import TracebackType

from steelyard.bench.mesh.contenders import DRIVERS
from steelyard.errors import Fault, SteelyardError
from steelyard.python import module


class NodeError(SteelyardError):
    """A node did not start."""

    fault = Fault.MACHINE


class NodeProcess:
    """One node with one child; a context manager that ends it."""

    def __init__(self, join: Sequence[str] = (), slowness: float = 1.0) -> None:
        words = module("steelyard", "mesh", "worker", "--procs", "1")
        words += [f"faults_work:{name}" for name in ("nap", "note", "poison")]
        words += [f"--join={one}" for one in join]
        self._process = subprocess.Popen(
            words,
            cwd=DRIVERS,
            env={**os.environ, "BENCH_SLOWNESS": str(slowness)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def wait(self) -> str:
        """Wait until the node is up; return the endpoint where others join it."""
        assert self._process.stdout is not None  # noqa: S101 - it was asked for
        line = self._process.stdout.readline()
        if not line:
            raise NodeError("a node did not start", hint="try: steelyard mesh worker math:sqrt")
        return line.split()[-1]

    def kill(self) -> None:
        """Kill the node at once."""
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """Stop the process until it thaws."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the stopped process go on."""
        self._process.send_signal(signal.SIGCONT)

    def __enter__(self) -> NodeProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        if self._process.stdout is not None:
            self._process.stdout.close()
