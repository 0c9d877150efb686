"""Log files of workers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.errors import UsageError
from steelyard.runtime.logfiles import KEPT, LogFiles


@pytest.fixture
def logs(tmp_path: Path) -> LogFiles:
    found = LogFiles(tmp_path / "logs")
    found.open()
    return found


def write(logs: LogFiles, name: str, text: bytes) -> None:
    with logs.append(name) as file:
        file.write(text)


@pytest.mark.parametrize(
    ("text", "lines", "tail"),
    [
        (b"", 3, ""),
        (b"a\nb\nc\n", 2, "b\nc\n"),
        (b"a\nb\nc", 2, "b\nc"),
        (b"a\nb\n", 5, "a\nb\n"),
        (b"a\n\n\n", 2, "\n\n"),
        (b"1%\r2%\r3%\ndone\n", 2, "1%\r2%\r3%\ndone\n"),
        (b"a\nb\n", 0, ""),
        (b"ok \xff\n", 1, "ok \ufffd\n"),
    ],
)
def test_tail(logs: LogFiles, text: bytes, lines: int, tail: str) -> None:
    """The last lines are given as they were written, broken text included."""
    write(logs, "one", text)
    assert logs.tail("one", lines) == tail


def test_tail_of_a_large_file(logs: LogFiles) -> None:
    """Lines that go over the blocks it is read in come out whole."""
    lines = [f"{number} {'x' * 1000}\n" for number in range(500)]
    write(logs, "one", "".join(lines).encode())
    assert logs.tail("one", 200) == "".join(lines[-200:])


def test_logs_of_ended_workers_are_capped(logs: LogFiles, tmp_path: Path) -> None:
    """The newest logs of ended workers stay, and those of running ones, however old."""
    for number in range(KEPT + 5):
        write(logs, f"w{number}", b"x")
        os.utime(tmp_path / "logs" / f"w{number}.log", (number, number))
    logs.prune({"w0"})
    kept = {path.stem for path in (tmp_path / "logs").iterdir()}
    assert kept == {"w0"} | {f"w{number}" for number in range(5, KEPT + 5)}


@pytest.mark.parametrize("name", ["../secret", "", ".", "a/b", "zero\0byte"])
def test_name_does_not_lead_out_of_the_folder(logs: LogFiles, name: str, tmp_path: Path) -> None:
    """A name that is a path is refused."""
    (tmp_path / "secret.log").write_text("secret")
    with pytest.raises(UsageError, match="name of a worker"):
        logs.tail(name, 1)


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """Where no folder can be, the error says which setting to change."""
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="--state"):
        LogFiles(tmp_path / "file" / "logs").open()
