"""Wrong input ends in a clear error or a clear state, and leaves nothing running."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from tests.e2e.gateway import QUICK, free_port

LOOPING = (
    sys.executable,
    "-c",
    "import sys; print('no database [/etc/app.conf]', flush=True); sys.exit(7)",
)
DEAF = (sys.executable, "-c", "import time; print('not listening', flush=True); time.sleep(600)")


def steelyard(*words: str, cwd=None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "steelyard", *words],
        capture_output=True, text=True, timeout=150, cwd=cwd,
    )  # fmt: skip


def test_an_unknown_key_names_itself_its_place_and_the_nearest_right_one(tmp_path):
    """An unknown key in the file is reported with its line, and with the most similar key."""
    (tmp_path / "steelyard.toml").write_text("[scaling]\n\nmni = 3\n")
    done = steelyard("up", "--", "true", cwd=tmp_path)
    assert done.returncode == 2
    assert "scaling.mni" in done.stderr
    assert "steelyard.toml:3" in done.stderr
    assert "scaling.min" in done.stderr


def test_a_wrong_type_names_key_value_and_what_was_expected():
    """A value of a wrong type is reported with its key, its flag and the expected type."""
    done = steelyard("up", "--min", "four", "--", "true")
    assert done.returncode == 2
    assert all(word in done.stderr for word in ("scaling.min", "--min", "four", "whole number"))


def test_nothing_to_serve_is_said():
    """Without a command, `steelyard up` says what to type."""
    done = steelyard("up")
    assert done.returncode == 2
    assert "no command to serve" in done.stderr
    assert "steelyard up -- uvicorn app:app --port {port}" in done.stderr


@pytest.mark.parametrize("flag", ["--listen", "--agent-listen"])
def test_a_port_in_use_is_said_before_anything_is_started(gateway, flag):
    """A port in use is named before anything starts, the gateway's and the agent's."""
    g = gateway()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        if flag == "--listen":
            g.port = port
        else:
            g.agent_port = port
        g.start()
        assert g.wait() == 1
    assert f"127.0.0.1:{port} is in use" in g.output()
    assert flag in g.output()
    assert g.workers() == []


def test_a_command_that_exits_at_once_ends_in_a_clear_error(gateway):
    """The error after a few starts, with growing pauses, has the exit code and the last lines."""
    g = gateway(*QUICK, command=LOOPING).start()
    assert g.wait() == 1
    assert "exit code 7" in g.output()
    assert "no database" in g.output()
    assert "[/etc/app.conf]" in g.output()  # the worker's own text is not taken for our markup
    assert g.workers() == []


def test_a_command_that_never_listens_ends_in_a_clear_error(gateway):
    """A command that never listens is reported when its time to boot is over."""
    g = gateway(*QUICK, "--boot-timeout", "2", command=DEAF).start()
    assert g.wait() == 1
    assert "not ready within 2 s" in g.output()
    assert "$PORT" in g.output()
    assert g.workers() == []


def test_a_command_that_does_not_exist_is_told_before_anything_starts(gateway):
    """The error names the program and a remedy; neither an agent nor a balancer has started."""
    g = gateway(*QUICK, command=("no-such-program-here",)).start()
    assert g.wait() == 1
    error, *hints = g.output().splitlines()
    assert error.startswith("error: command: no-such-program-here: not found")
    assert "PATH" in error
    assert hints == ["  → `steelyard check` shows every check"]
    assert [file.name for file in g.home.iterdir()] == ["up.log"]


def test_a_balancer_without_workers_or_agent_is_refused():
    """A balancer without workers or an agent is refused with a hint at both flags."""
    done = steelyard("balancer", "--listen", f"127.0.0.1:{free_port()}")
    assert done.returncode == 2
    assert "--worker HOST:PORT" in done.stderr


def test_a_wrong_worker_is_refused():
    """A malformed worker is refused before anything listens."""
    done = steelyard("balancer", "--listen", f"127.0.0.1:{free_port()}", "--worker", "nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr


def test_no_agent_is_said(tmp_path):
    """A command that finds no agent says so."""
    done = steelyard("status", "--state", str(tmp_path), "--agent", f"127.0.0.1:{free_port()}")
    assert done.returncode == 2
    assert "agent" in done.stderr


async def test_a_fleet_that_breaks_later_says_so_in_its_status(gateway, tmp_path):
    """A fleet that has served once is not given up: starts are tried again, ever more slowly."""
    switch = tmp_path / "broken"
    fragile = (sys.executable, "-c", (
        "import os, runpy, sys\n"
        f"if os.path.exists({str(switch)!r}): sys.exit(9)\n"
        "sys.argv = ['http.server', os.environ['PORT'], '--bind', '127.0.0.1']\n"
        "runpy.run_module('http.server', run_name='__main__')"
    ))  # fmt: skip
    g = gateway("--min", "1", "--max", "1", *QUICK, command=fragile).start()
    await g.ready()
    switch.touch()
    for worker in g.workers():
        worker.kill()
    told = await g.until(lambda told: told.failures >= 2)
    assert "exit code 9" in told.trouble
    assert told.ready == 0
    shown = g.cli("status").stdout
    assert "no worker is ready: requests are answered 503" in shown
    switch.unlink()
    await g.ready(1)
