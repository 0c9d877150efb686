"""A real gateway, driven as users drive it, whose workers are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from steelyard.bench.launch import LaunchError, family
from steelyard.bench.ports import HOST, free_port
from steelyard.core.status import FleetStatus
from steelyard.errors import SteelyardError
from steelyard.python import module
from steelyard.runtime.procfs import Process, all_stats, read_environment, send
from steelyard.token import read_token

STEELYARD = module("steelyard")
# The agent decides in fractions of a second, so that more happens in the time there is.
QUICK = ("--agent-tick", "0.5", "--scaling-cooldown", "0.5", "--probe-interval", "0.3")
START, END = 60.0, 60.0


class Gateway:
    """`steelyard up` with workers of the bench; a context manager that ends both."""

    def __init__(self, folder: Path, workers: int, flags: tuple[str, ...] = ()) -> None:
        self.port = free_port()
        self._agent = f"{HOST}:{free_port()}"
        self._state = folder / "state"
        self._log = folder / "log"
        self._where = ("--state", str(self._state), "--agent", self._agent)
        words = [*STEELYARD, "up", "--state", str(self._state), "--agent-listen", self._agent]
        words += ["--listen", f"{HOST}:{self.port}", "--name", "soak"]
        words += ["--min", str(workers), "--max", str(workers), *QUICK, *flags]
        words += ["--", *module("steelyard.bench.soak.worker", "{port}")]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                words,
                env={**os.environ, "SOAK_FOLDER": str(folder)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # so that Ctrl-C reaches only us
            )

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(END)
        except subprocess.TimeoutExpired:
            parts = family(self._process.pid)  # they would go on without their supervisor
            self._process.kill()
            self._process.wait()
            for process in [*parts, *self._marked()]:
                send(process, signal.SIGKILL)

    def status(self) -> FleetStatus | None:
        """The status of the fleet; None while the agent does not answer."""
        try:
            request = urllib.request.Request(f"http://{self._agent}/v1/status")
            token = read_token(self._state / "token")
            request.add_header("Authorization", f"Bearer {token}")
            with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310
                return FleetStatus.model_validate_json(answer.read())
        except (OSError, ValueError, SteelyardError):
            return None

    def wait_for(self, true: Callable[[FleetStatus], bool], deadline: float) -> bool:
        """Wait until a condition holds; False if it does not by then."""
        while time.monotonic() < deadline:
            told = self.status()
            if told is not None and true(told):
                return True
            if self._process.poll() is not None:
                raise LaunchError(f"the gateway ended: {self.last_words()}")
            time.sleep(0.2)
        return False

    def last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return " | ".join(lines[-5:]) or "it said nothing"

    def told(self) -> list[str]:
        """The lines of its log that show a bug of ours."""
        lines = self._log.read_text(errors="replace").splitlines()
        return [line for line in lines if "error of ours" in line or "Traceback" in line]

    # Operations on workers.

    def scale(self, count: int) -> None:
        self._command("scale", str(count))

    def drain(self, worker: str) -> None:
        self._command("drain", worker)

    def kill(self, worker: str) -> None:
        """Kill a worker without warning."""
        for process in self._marked(worker):
            send(process, signal.SIGKILL)

    def _command(self, verb: str, word: str) -> None:
        done = subprocess.run(
            [*STEELYARD, verb, word, *self._where], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise LaunchError(f"`steelyard {verb} {word}` failed: {done.stderr.strip()}")

    def _marked(self, worker: str = "") -> list[Process]:
        """The processes of a worker, or of all workers: their environment has its name, and our
        folder.
        """
        found = []
        for stat in all_stats():
            environment = read_environment(stat.process.pid)
            ours = environment.get("STEELYARD_HOME", "").startswith(str(self._state))
            if ours and environment.get("STEELYARD_WORKER", "").endswith(worker):
                found.append(stat.process)
        return found
