"""The functions that nodes run in the tests."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from steelyard import mesh


@mesh.unit
def double(number: int) -> int:
    return 2 * number


@mesh.unit
def add(one: int, other: int) -> int:
    return one + other


@mesh.unit
def repeat(text: str, times: int) -> str:
    """Return a result of any size."""
    return text * times


@mesh.unit
def fail(number: int) -> int:
    raise ValueError(f"{number} is not to my taste")


@mesh.unit(retries=1)
def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


@mesh.unit(retries=1)
def die_once(path: str) -> str:
    """Die in the first run, and leave a file that says so."""
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path


@mesh.unit(retries=0, deadline=0.2)
def hang(number: int) -> int:
    time.sleep(3600)
    return number


@mesh.unit
def snooze(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


@mesh.unit
def speak(text: str) -> int:
    print(text)  # noqa: T201 - what a unit prints is kept
    return len(text)


@mesh.unit
def wait_for(path: str) -> str:
    """Wait until a file exists; leave a file that says that the unit began."""
    began = Path(f"{path}.{os.getpid()}.began")
    began.touch()
    while not Path(path).exists():
        time.sleep(0.005)
    return path


@mesh.unit(hedge=False)
def mark(folder: str, number: int, seconds: float = 0.0) -> int:
    """Leave a file for each run, so that a test can count them."""
    (Path(folder) / f"{number}.{os.getpid()}.{time.monotonic_ns()}").touch()
    time.sleep(seconds)
    return number


@mesh.unit(hedge=False)
def mark_after(path: str, folder: str, number: int) -> int:
    """Do the same as `mark` once a file exists."""
    while not Path(path).exists():
        time.sleep(0.005)
    return mark(folder, number)
