"""Nothing is left of killed runs of pytest."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.reaper import groups_named
from tests.waiting import wait_until

PATIENCE = 500.0  # seconds; ends a test that hangs
MOUNTS = Path("/proc/self/mountinfo")
Abort = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.timeout(600)  # a whole pytest is started


@pytest.fixture
def abort(tmp_path: Path) -> Abort:
    """Run a test of `tests/hanging.py`, end its pytest by a signal; return what it reported."""

    def play(name: str, number: signal.Signals = signal.SIGKILL, *flags: str) -> dict[str, Any]:
        told = tmp_path / "told.json"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        words = [sys.executable, "-m", "pytest", *flags, f"tests/hanging.py::{name}"]
        words += ["--basetemp", str(tmp_path / "inner")]
        with (tmp_path / "out").open("wb") as out:
            inner = subprocess.Popen(
                words,
                stdout=out,
                stderr=out,
                env={**environment, "TELL": str(told)},
                # As a child of a terminal: a process that a script put into the background ignores
                # Ctrl-C.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
        try:
            wait_until(lambda: told.exists() or inner.poll() is not None, PATIENCE)
            assert told.exists(), (tmp_path / "out").read_text()
            inner.send_signal(number)
            inner.wait(PATIENCE)
        finally:
            inner.kill()
            inner.wait()
        return dict(json.loads(told.read_text()))

    return play


def remains(told: dict[str, Any]) -> list[str]:
    """All that is left of a run: processes, control groups, its folder, mounts."""
    pids = [int(pid) for pid in told["processes"]]
    groups = {group for text in told["processes"].values() for group in groups_named(text)}
    own = groups_named(Path("/proc/self/cgroup").read_text())
    left = [f"process {pid}" for pid in pids if _runs(pid)]
    left += [str(group) for group in groups - own if group.exists()]
    left += [line for line in MOUNTS.read_text().splitlines() if told["run"] in line]
    return [*left, told["run"]] if Path(told["run"]).exists() else left


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(told: dict[str, Any], least: int) -> None:
    """Wait until nothing is left of a run with at least this many processes."""
    assert len(told["processes"]) >= least, told
    wait_until(lambda: not remains(told), PATIENCE)


@pytest.mark.needs("cgroup")
@pytest.mark.parametrize(
    ("number", "processes"), [(signal.SIGKILL, "1"), (signal.SIGINT, "0")], ids=["KILL", "INT"]
)
def test_a_gateway_ends_with_the_tests(
    abort: Abort, number: signal.Signals, processes: str
) -> None:
    """`up`, agent, balancer and two workers end, with their control groups.

    The process of `-n 1` in which the test runs ends with the one that is killed.
    """
    gone(abort("test_gateway", number, "-n", processes), 5)


def test_orphans_end_with_the_tests(abort: Abort) -> None:
    """Workers of a killed gateway are found although they have no parent."""
    gone(abort("test_orphans"), 2)


@pytest.mark.needs("docker")
def test_an_engine_ends_with_the_tests(abort: Abort) -> None:
    """The namespaces' holder, dockerd, containerd, the shim and a container end."""
    before = {one for one in psutil.net_if_addrs() if one.startswith("br-")}
    gone(abort("test_engine"), 6)
    assert {one for one in psutil.net_if_addrs() if one.startswith("br-")} == before


@pytest.mark.needs("redis")
@pytest.mark.needs("nginx")
@pytest.mark.needs("namespaces")
def test_servers_end_with_the_tests(abort: Abort) -> None:
    """Redis, nginx, and the holders of two namespaces end."""
    gone(abort("test_servers"), 4)
