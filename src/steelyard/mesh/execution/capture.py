"""Captures what a unit prints, from Python or C: descriptors 1 and 2 are a file in memory.

The child truncates the file after each unit. If a unit ended its child, the parent reads the rest.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import sys
from io import FileIO, TextIOWrapper

from steelyard.mesh.execution.orders import MOST_OUTPUT

FULL = 64 * 1024 * 1024  # bytes of one unit's output, above which the parent discards it


def create() -> int:
    """Create a file for one child's output; every write goes to its end, whoever writes."""
    fd = os.memfd_create("steelyard-output")
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND)
    return fd


def redirect(fd: int) -> None:
    """In a child, send all output to the file, unbuffered, so that a crash loses nothing."""
    for number in (1, 2):
        os.dup2(fd, number)
    sys.stdout = TextIOWrapper(FileIO(1, "w", closefd=False), errors="replace", write_through=True)
    sys.stderr = TextIOWrapper(FileIO(2, "w", closefd=False), errors="replace", write_through=True)
    libc = ctypes.CDLL(None)
    for stream in ("stdout", "stderr"):
        libc.setvbuf(ctypes.c_void_p.in_dll(libc, stream), None, 2, 0)  # _IONBF


def read(fd: int) -> bytes:
    """The captured output; if it is too long, its end, after a note about the rest."""
    size = os.lseek(fd, 0, os.SEEK_END)
    if not size:
        return b""
    if size <= MOST_OUTPUT:
        return os.pread(fd, size, 0)
    note = f"({size - MOST_OUTPUT + 64} bytes before this are left out)\n".encode()
    kept = MOST_OUTPUT - 64
    return note + os.pread(fd, kept, size - kept)


def drain(fd: int) -> bytes:
    """Return the captured output and truncate the file."""
    text = read(fd)
    if text:
        os.ftruncate(fd, 0)
    return text


def relieve(fd: int) -> None:
    """Discard the output of a unit that prints without end, before it fills the machine."""
    if os.fstat(fd).st_size > FULL:
        os.ftruncate(fd, 0)
