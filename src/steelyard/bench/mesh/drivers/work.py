"""The unit: it uses so many milliseconds of CPU time."""

import time


def burn(milliseconds: float) -> float:
    end = time.thread_time() + milliseconds / 1000
    while time.thread_time() < end:
        pass
    return milliseconds
