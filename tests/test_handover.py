"""The hand-over of listening sockets, and the peers that are refused."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from steelyard.handover import StrangerError, give, listen_at, take
from tests.runtime.test_strangers import NOBODY

PATIENCE = 30.0
# Plays the other side as another user; the program gives up root by itself, since another user may
# be unable to read this user's Python.
ASK = """
import os, socket, sys
os.setgid({user})
os.setuid({user})
link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1])
print(socket.recv_fds(link, 1, 10)[:2])
"""
POSE = """
import os, socket, sys
os.setgid({user})
os.setuid({user})
door = socket.socket(socket.AF_UNIX)
door.bind(sys.argv[1])
door.listen()
print("listening", flush=True)
link, _ = door.accept()
socket.send_fds(link, [b"s"], [door.fileno()])
"""


@pytest.fixture
def served() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def answer(path: Path, sockets: list[socket.socket], given: list[bool]) -> threading.Thread:
    """Open a hand-over socket for one client."""
    listening = listen_at(path)
    listening.setblocking(True)
    listening.settimeout(PATIENCE)

    def serve() -> None:
        with listening:
            heir, _ = listening.accept()
            with heir, suppress(BrokenPipeError):  # the other side may refuse, and close
                given.append(give(heir, sockets))

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


@pytest.mark.parametrize("count", [0, 1, 2])
def test_the_sockets_of_a_process_are_taken(tmp_path, served, count):
    """The sockets listen where they did; the path may be longer than a Unix socket's name."""
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    given: list[bool] = []
    thread = answer(folder / "b.sock", [served] * count, given)
    taken = take(folder / "b.sock", os.getpid(), PATIENCE)
    thread.join()
    assert [sock.getsockname() for sock in taken] == [served.getsockname()] * count
    assert given == [True]
    assert (folder / "b.sock").stat().st_mode & 0o777 == 0o600
    for sock in taken:
        sock.close()


def test_another_process_than_the_named_one_is_not_believed(tmp_path, served):
    """The pid file names process 1, but this process answers."""
    thread = answer(tmp_path / "b.sock", [served], [])
    with pytest.raises(StrangerError, match=f"process {os.getpid()} of user"):
        take(tmp_path / "b.sock", 1, PATIENCE)
    thread.join()


@pytest.mark.needs("root")
def test_another_user_gets_nothing(tmp_path, served):
    """Another user gets no sockets, even if the folder and the socket are open to everybody."""
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    path, given = tmp_path / "b.sock", []
    thread = answer(path, [served], given)
    path.chmod(0o777)
    words = [sys.executable, "-c", ASK.format(user=NOBODY), str(path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    thread.join()
    assert done.stdout == "(b'', [])\n", done.stderr
    assert given == [False]


@pytest.mark.needs("root")
def test_sockets_of_another_user_are_not_taken(tmp_path):
    """Sockets are refused if another user opened the hand-over socket first."""
    folder = tmp_path / "open"
    folder.mkdir()
    for one in (tmp_path, *tmp_path.parents[:3]):
        one.chmod(0o755)
    folder.chmod(0o777)
    words = [sys.executable, "-c", POSE.format(user=NOBODY), str(folder / "b.sock")]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as stranger:
        assert stranger.stdout is not None
        assert stranger.stdout.readline() == b"listening\n"
        with pytest.raises(StrangerError, match=f"of user {NOBODY} answers for {stranger.pid}"):
            take(folder / "b.sock", stranger.pid, PATIENCE)
