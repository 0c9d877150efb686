"""Units for the faults: they sleep, so that only the mesh is measured; some are poison."""

import os
import time

SLOWNESS = float(os.environ.get("BENCH_SLOWNESS", "1"))  # times that this node is slower


def nap(seconds: float) -> int:
    """Sleep; return the process id of the node."""
    time.sleep(seconds * SLOWNESS)
    return os.getppid()


def note(folder: str, number: int, seconds: float) -> None:
    """Log when the unit begins, in a file of its child."""
    with open(os.path.join(folder, f"{os.getpid()}"), "a") as file:
        file.write(f"{number} {time.monotonic()}\n")
    time.sleep(seconds)


def poison(folder: str) -> None:
    """Leave a file for each try, then crash."""
    with open(os.path.join(folder, f"{time.monotonic_ns()}"), "w"):
        os._exit(7)
