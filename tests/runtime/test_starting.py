"""How a local process is started."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from steelyard.errors import StartError
from tests.ports import free_ports
from tests.runtime.conftest import Make, next_exit, printed, python, shell


async def test_port_reaches_the_command_and_the_environment(make: Make) -> None:
    """`{port}` is replaced in every word, other braces stay, and the variables are set."""
    script = 'echo "$@" "$PORT" "$HOST" "$STEELYARD_WORKER" "$STEELYARD_APPLICATION"'
    runtime = await make(*shell(script), "sh", "--bind=x:{port}", "{port}", '{"a":{}}', "{host}")
    port = str((await runtime.start("one")).port)
    words = await printed(runtime, "one", 8)
    assert words == [
        f"--bind=x:{port}",
        port,
        '{"a":{}}',
        "{host}",
        port,
        "127.0.0.1",
        "one",
        "app",
    ]


async def test_worker_leads_a_session_with_nothing_on_stdin(make: Make) -> None:
    """A worker has a session and group of its own, an empty stdin, and prints to its log."""
    runtime = await make(*shell("cat; echo out; echo err >&2; exec sleep 1000"))
    pid = int((await runtime.start("one")).handle)
    assert (os.getsid(pid), os.getpgid(pid)) == (pid, pid)
    assert await printed(runtime, "one", 2) == ["out", "err"]


async def test_environment_of_the_agent_is_passed_on_without_ours(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers inherit the environment without Steelyard's own variables, as one may be a token."""
    monkeypatch.setenv("STEELYARD_TOKEN", "secret")
    monkeypatch.setenv("COLOUR", "green")
    runtime = await make(
        *python("import json, os; print(json.dumps(dict(os.environ), indent=None))")
    )
    await runtime.start("one")
    await next_exit(runtime)
    seen = json.loads(await runtime.logs("one", 1))
    assert seen["COLOUR"] == "green"
    assert "STEELYARD_TOKEN" not in seen


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ((), "no command"),
        (("no-such-command-anywhere",), "not found\n.*PATH"),
        (("./no-such-file",), "not found\n.*runs in"),
        (("/etc/passwd",), "not executable\n.*chmod"),
        (("/",), "not executable"),
        (("true", "zero\0byte"), "null byte"),
    ],
)
@pytest.mark.parametrize("cpus", [None, 1.0])
async def test_command_that_cannot_be_run(
    make: Make, command: tuple[str, ...], says: str, cpus: float | None
) -> None:
    """The error says what to do, with or without limits, and nothing is left."""
    runtime = await make(*command, cpus=cpus)
    with pytest.raises(StartError, match=says):
        await runtime.start("one")
    assert await runtime.running() == []


async def test_script_of_the_working_folder(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`./serve` is the file of that folder, whatever PATH says."""
    (tmp_path / "serve").write_text("#!/bin/sh\necho here\n")
    (tmp_path / "serve").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    runtime = await make("./serve")
    await runtime.start("one")
    assert await printed(runtime, "one") == ["here"]


async def test_script_without_interpreter_line(make: Make, tmp_path: Path) -> None:
    """A script without an interpreter line is refused with the kernel's error."""
    script = tmp_path / "program"
    script.touch(mode=0o755)
    runtime = await make(str(script))
    with pytest.raises(StartError, match="Exec format error"):
        await runtime.start("one")


async def test_ports_in_use_are_avoided(make: Make) -> None:
    """Neither a port that someone listens on nor a worker's port is given out."""
    first, middle, last = free_ports(3)
    with socket.create_server(("127.0.0.1", middle)):
        runtime = await make("sleep", "1000", ports=(first, last))
        await runtime.start("one")
        await runtime.start("two")
        with pytest.raises(StartError, match="no free port"):
            await runtime.start("three")
    ports = {worker.port for worker in await runtime.running()}
    assert ports == {first, last}


async def test_deleted_folder(make: Make, tmp_path: Path) -> None:
    """If the state folder was deleted meanwhile, the start fails, and no process is left."""
    runtime = await make("sleep", "1000")
    (tmp_path / "logs").rmdir()
    with pytest.raises(StartError, match="no log"):
        await runtime.start("one")
    assert await runtime.running() == []
