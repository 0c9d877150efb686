"""The log files of workers."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from steelyard.errors import UsageError
from steelyard.runtime.log_text import CUT, LONGEST, MOST, read_tail
from steelyard.runtime.logfiles import KEPT, LogFiles, Place
from steelyard.runtime.room import RESERVE, reserved


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
    """The last lines are returned as they were written, invalid text included."""
    write(logs, "one", text)
    assert logs.tail("one", lines) == tail


def test_tail_of_a_large_file(logs: LogFiles) -> None:
    """Lines that span several blocks come out whole."""
    lines = [f"{number} {'x' * 1000}\n" for number in range(500)]
    write(logs, "one", "".join(lines).encode())
    assert logs.tail("one", 200) == "".join(lines[-200:])


class Counted(io.FileIO):
    """A file that counts the bytes read from it."""

    taken = 0

    def read(self, size: int | None = -1, /) -> bytes | None:
        text = super().read(-1 if size is None else size)
        self.taken += len(text or b"")
        return text


@pytest.mark.parametrize("lines", [1, 100_000])
def test_tail_of_a_hundred_megabytes_without_a_newline(tmp_path: Path, lines: int) -> None:
    """Only the end of such a log is read and shown, marked as cut."""
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(100_000_000)  # a hole, which takes no room on the disk
        file.seek(0, os.SEEK_END)
        file.write(b"the end")
    with Counted(tmp_path / "huge") as huge:
        text = read_tail(huge, lines)
        assert huge.taken <= MOST
    assert text.startswith(CUT)
    assert text.endswith(b"the end")
    assert len(text) == len(CUT) + LONGEST


def test_a_long_line_is_cut_and_its_neighbours_are_not(logs: LogFiles) -> None:
    """Only the end of a line that is too long is shown, with a mark."""
    write(logs, "one", b"before\n" + b"x" * LONGEST + b"end\nafter\n")
    cut = CUT.decode() + "x" * (LONGEST - 4) + "end\n"
    assert logs.tail("one", 3) == f"before\n{cut}after\n"


def test_more_text_than_is_read_is_told(logs: LogFiles) -> None:
    """If the bound on bytes gives fewer lines than were asked for, the first one says so."""
    write(logs, "one", b"0123456789\n" * (MOST // 10))
    shown = logs.tail("one", 10**9).splitlines()
    assert shown[0].startswith(CUT.decode())
    assert set(shown[1:]) == {"0123456789"}


def test_logs_of_ended_workers_are_capped(logs: LogFiles, tmp_path: Path) -> None:
    """The newest logs of ended workers stay, and all logs of running ones."""
    for number in range(KEPT + 5):
        write(logs, f"w{number}", b"x")
        os.utime(tmp_path / "logs" / f"w{number}.log", (number, number))
    logs.prune({"w0"})
    kept = {path.stem for path in (tmp_path / "logs").iterdir()}
    assert kept == {"w0"} | {f"w{number}" for number in range(5, KEPT + 5)}


def test_the_log_of_a_living_worker_is_rotated(logs: LogFiles, tmp_path: Path) -> None:
    """The worker's descriptor stays valid, and the last lines are found in both files."""
    with logs.append("one") as file:
        for round_ in range(3):
            file.write(f"{round_} first\n{round_} last\n".encode())
            file.flush()
            logs.rotate(10)
        file.write(b"new\n")
    files = sorted(path.name for path in (tmp_path / "logs").iterdir())
    assert files == ["one.log", "one.log.1"]
    assert (tmp_path / "logs" / "one.log").read_bytes() == b"new\n"
    assert logs.tail("one", 2) == "2 last\nnew\n"


def test_a_small_log_is_not_rotated(logs: LogFiles, tmp_path: Path) -> None:
    """Only a log larger than the size is rotated."""
    write(logs, "one", b"0123456789")
    logs.rotate(10)
    assert [path.name for path in (tmp_path / "logs").iterdir()] == ["one.log"]
    assert logs.tail("one", 1) == "0123456789"


def test_rotated_logs_go_with_their_worker(logs: LogFiles, tmp_path: Path) -> None:
    """If the log of a worker is deleted, its rotated log is deleted, too."""
    for number in range(KEPT + 1):
        write(logs, f"w{number}", b"xx")
        logs.rotate(1)
        os.utime(tmp_path / "logs" / f"w{number}.log", (number, number))
    logs.prune(())
    assert not list((tmp_path / "logs").glob("w0.*"))


@pytest.mark.parametrize("name", ["../secret", "", ".", "a/b", "zero\0byte"])
def test_name_does_not_lead_out_of_the_folder(logs: LogFiles, name: str, tmp_path: Path) -> None:
    """A name that is a path is refused."""
    (tmp_path / "secret.log").write_text("secret")
    with pytest.raises(UsageError, match="name of a worker"):
        logs.tail(name, 1)


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """If the folder cannot be made, the error names the setting to change."""
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="--state"):
        LogFiles(tmp_path / "file" / "logs").open()


def read_all(logs: LogFiles, name: str, place: Place) -> tuple[bytes, Place, bool]:
    """All text from a place on, the place after it, and whether there was a gap."""
    text, gap = b"", False
    while True:
        block = logs.read_on(name, place)
        text, place, gap = text + block.text, block.place, gap or block.gap
        if not block.text:
            return text, place, gap


def test_one_who_reads_on_gets_each_byte_once_over_rotations(logs: LogFiles) -> None:
    """Rotations between two reads, in the middle of lines, lose nothing and repeat nothing."""
    with logs.append("one") as file:
        file.write(b"before\n")
        file.flush()
        begun = logs.begin("one", 10)
        text, place = begun.text, begun.place
        for number in range(20):
            file.write(b"%d begins " % number)
            file.flush()
            if number % 3 == 0:
                logs.rotate(1)
            file.write(b"and ends\n")
            file.flush()
            if number % 2 == 0:
                more, place, gap = read_all(logs, "one", place)
                text += more
                assert not gap
    more, _, gap = read_all(logs, "one", place)
    assert not gap
    assert text + more == b"before\n" + b"".join(b"%d begins and ends\n" % n for n in range(20))


def test_one_who_is_rotated_past_is_told_of_a_gap(logs: LogFiles) -> None:
    """Two rotations between two reads drop the oldest text, and a gap is reported."""
    with logs.append("one") as file:
        place = logs.begin("one", 0).place
        for text in (b"lost\n", b"kept\n"):
            file.write(text)
            file.flush()
            logs.rotate(1)
        file.write(b"new\n")
    assert read_all(logs, "one", place)[::2] == (b"kept\nnew\n", True)


def test_a_log_that_somebody_emptied_is_read_from_its_start(logs: LogFiles, tmp_path: Path) -> None:
    """After `> one.log`, the worker appends at the start, and reading begins there, too."""
    write(logs, "one", b"a long line that goes\n")
    place = logs.begin("one", 0).place
    (tmp_path / "logs" / "one.log").write_bytes(b"new\n")
    assert read_all(logs, "one", place)[0] == b"new\n"


def test_room_is_reserved_for_a_worker_and_given_back(logs: LogFiles, tmp_path: Path) -> None:
    """A log has reserved room while its worker may print, and none afterwards."""
    write(logs, "one", b"text\n")
    path = tmp_path / "logs" / "one.log"
    assert reserved(path) >= RESERVE // 2
    logs.prune(())
    assert reserved(path) < RESERVE // 2
    assert path.read_bytes() == b"text\n"
