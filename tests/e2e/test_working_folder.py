"""Steelyard's own processes import nothing from the folder where Steelyard is started."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from steelyard.errors import SteelyardError
from tests.e2e.gateway import DEMO, Gateway
from tests.ports import free_port
from tests.waiting import wait_until

HOSTILE = """
import os
os.close(os.open({note!r}, os.O_WRONLY | os.O_CREAT))
raise SystemExit("imported from the working folder")
"""
MODULES = (
    "http", "json", "asyncio", "logging", "socket", "select", "pydantic", "zenoh", "uvicorn",
    "msgpack", "traceback", "linecache", "tokenize", "random", "tempfile", "ctypes", "typer",
)  # fmt: skip
# A unit asks for one module of the folder by name, and gets it.
UNITS = """
def twice(number):
    if number == 13:
        raise ValueError("unlucky")
    import helper
    return helper.twice(number)
"""
# The two ways of a user: the command that pip installs, and the module.
COMMANDS = ([str(Path(sys.executable).with_name("steelyard"))], [sys.executable, "-m", "steelyard"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder full of modules that leave a note when they are imported."""
    made = tmp_path / "application"
    made.mkdir()
    for number, name in enumerate(MODULES):
        text = HOSTILE.format(note=str(tmp_path / f"imported-{name}"))
        if number % 2:
            (made / f"{name}.py").write_text(text)
        else:
            (made / name).mkdir()
            (made / name / "__init__.py").write_text(text)
    (made / "units.py").write_text(UNITS)
    return made


def imported(folder: Path) -> list[str]:
    return sorted(note.name for note in folder.parent.glob("imported-*"))


@contextmanager
def started(words: list[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    with (folder.parent / "errors").open("w") as errors:
        process = subprocess.Popen(
            words, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True
        )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.mark.parametrize("command", COMMANDS, ids=["command", "module"])
@pytest.mark.parametrize("part", ["up", "demo"])
def test_a_gateway_serves_in_a_folder_of_hostile_modules(folder, command, part):
    """Neither the gateway nor its children import a module of the folder."""
    g = Gateway(folder.parent / "state")
    words = [
        *command, part, "--state", str(g.home), "--min", "1", "--max", "1",
        "--listen", f"127.0.0.1:{g.port}", "--agent-listen", f"127.0.0.1:{g.agent_port}",
    ]  # fmt: skip
    own = [sys.executable, "-P", *DEMO[1:]]  # the user's own command has its own path
    with started([*words, *(["--", *own] if part == "up" else [])], folder) as process:

        def ready() -> bool:
            assert process.poll() is None, (folder.parent / "errors").read_text()
            try:
                return g.client.status().ready == 1
            except SteelyardError:
                return False

        wait_until(ready, 60)
        url = f"http://127.0.0.1:{g.port}/whoami"
        wait_until(lambda: _status(url) == 200, 60)
    assert imported(folder) == []
    assert g.workers() == []


def _status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return int(answer.status)
    except OSError:  # no balancer knows a worker yet
        return 0


@pytest.mark.parametrize("command", COMMANDS, ids=["command", "module"])
def test_a_node_runs_units_in_a_folder_of_hostile_modules(folder, command):
    """Node, nursery, children and the command of the job import only what the units name."""
    (folder / "helper.py").write_text("def twice(number):\n    return 2 * number\n")
    (folder / "units.jsonl").write_text("1\n13\n3\n")
    place = f"tcp/127.0.0.1:{free_port()}"
    words = [*command, "mesh", "worker", "units:twice", "--procs", "1", "--listen", place]
    with started(words, folder) as node:
        assert node.stdout is not None
        assert node.stdout.readline().startswith("node "), (folder.parent / "errors").read_text()
        job = [*command, "mesh", "run", "units:twice", "units.jsonl", "--join", place]
        done = subprocess.run(job, cwd=folder, capture_output=True, text=True, timeout=120)
    assert imported(folder) == [], done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(one["value"] for one in answers if "value" in one) == [2, 6]
    assert "unlucky" in done.stdout
