"""Real nodes: processes of `steelyard mesh worker`, to be killed and stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType

from tests.mesh.conftest import MODULE

ROOT = Path(__file__).parents[3]
STEELYARD = [sys.executable, "-m", "steelyard"]


def environment() -> dict[str, str]:
    """An environment in which the functions of the tests can be imported."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


class Worker:
    """One node; others join it at `endpoint`."""

    def __init__(
        self,
        *join: str,
        procs: int = 1,
        functions: str = MODULE,
        certs: Path | None = None,
        listen: str = "",
        drain: float | None = None,
    ) -> None:
        words = [*STEELYARD, "mesh", "worker", functions, "--procs", str(procs)]
        if certs is not None:
            words += ["--certs", str(certs)]
        if listen:
            words += ["--listen", listen]
        if drain is not None:
            words += ["--drain", str(drain)]
        for one in join:
            words += ["--join", one]
        self._process = subprocess.Popen(
            words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._errors: list[str] = []
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        self._errors.extend(self._process.stderr)

    @property
    def endpoint(self) -> str:
        """The endpoint of the node, once it is up."""
        if not hasattr(self, "_endpoint"):
            assert self._process.stdout is not None
            line = self._process.stdout.readline()
            assert "listening on" in line, self._errors
            self._endpoint = line.split()[-1]
        return self._endpoint

    def said(self, words: str) -> bool:
        """Whether these words are in what the node has told its user so far."""
        return any(words in line for line in self._errors)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def terminate(self, patience: float) -> int:
        self._process.terminate()
        return self._process.wait(patience)

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self.kill()
        self._reader.join()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()
