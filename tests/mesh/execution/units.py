"""Functions that the tests run as units; most of them misbehave."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

ANSWER = 42  # not a function


def add(a: int, b: int = 0) -> int:
    return a + b


def plus_one(function: Any) -> Any:
    @functools.wraps(function)
    def wrapped(*args: Any) -> Any:
        return function(*args) + 1

    return wrapped


@plus_one
def decorated(value: int) -> int:
    return value


def echo(value: Any) -> Any:
    return value


def spin(milliseconds: float) -> None:
    until = time.perf_counter() + milliseconds / 1e3
    while time.perf_counter() < until:
        pass


def rest(value: Any) -> Any:
    time.sleep(0.02)
    return value


def double(array: Any) -> Any:
    return array * 2


def is_imported(module: str) -> bool:
    return module in sys.modules


def pid() -> int:
    return os.getpid()


def is_writeable(array: Any) -> bool:
    return bool(array.flags.writeable)


def fail(message: str) -> None:
    raise KeyError(message)


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("never")


def fail_silently() -> None:
    raise SilentError


class LeavingError(Exception):
    def __str__(self) -> str:
        sys.exit("gone")


def fail_and_leave() -> None:
    raise LeavingError


def fail_beyond_words() -> None:
    """Raise an error that Python cannot format, as its line is not a text."""
    raise SyntaxError("odd", ("file", 1, 2, 7))


def fail_with_a_name() -> None:
    raise ValueError("no file " + os.fsdecode(b"\xff"))  # as os.listdir returns such names


def fail_at_length(size: int) -> None:
    raise ValueError("x" * size)


def use_up_descriptors() -> int:
    """Use up all descriptors, so that the next unit of this child finds none."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    kept = []
    with contextlib.suppress(OSError):
        while True:
            kept.append(os.dup(0))
    return len(kept)


def leave(status: int) -> None:
    print("leaving")
    os._exit(status)


def exit_politely() -> None:
    sys.exit("enough")


def segfault() -> None:
    print("falling")
    ctypes.string_at(0)


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_nursery_once(mark: str) -> str:
    """Kill the process that forks children, but only the first time."""
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)
    return "survived"


def hang() -> None:
    """Hold the interpreter's lock for ever, so that no thread of this process can act."""
    libc = ctypes.PyDLL(None)
    while True:
        libc.sleep(1000)


def wait_for(path: str) -> str:
    while not Path(path).exists():
        time.sleep(0.005)
    return "seen"


def write_note(note: str, *numbers: int) -> None:
    """Write a note at once: a test that sees the file can read all of it."""
    draft = Path(f"{note}.draft")
    draft.write_text(" ".join(map(str, numbers)))
    draft.rename(note)


def note_and_wait(note: str, path: str) -> str:
    write_note(note, os.getpid())
    return wait_for(path)


def start_and_hang(note: str) -> None:
    """Start a program, and hang."""
    program = subprocess.Popen(["sleep", "1000"])
    write_note(note, os.getpid(), program.pid, os.getppid())
    hang()


def start_and_leave(note: str) -> None:
    """Start a program, and crash."""
    program = subprocess.Popen(["sleep", "1000"])
    write_note(note, program.pid)
    os._exit(1)


def print_and_wait(size: int, note: str, path: str) -> str:
    print("x" * size)
    return note_and_wait(note, path)


def allocate(size: int) -> int:
    return len(bytearray(size))


def fork() -> str:
    """Return twice, in two processes, first in the forked one."""
    forked = os.fork()
    if not forked:
        return "child"
    os.waitpid(forked, 0)
    return "parent"


def print_everywhere() -> None:
    print("from Python")
    os.write(1, b"to a descriptor\n")
    libc = ctypes.CDLL(None)
    libc.printf(b"from C\n")
    subprocess.run(["echo", "by a program"], check=True)
    print("as an error", file=sys.stderr)


def print_much(size: int) -> None:
    print("x" * size + "the end")


def close_descriptors(first: int = 3) -> None:
    os.closerange(first, 100)


def unsendable() -> object:
    return threading.Lock()
