"""Units for the faults: they sleep, so that only the mesh is measured; some are poison."""

import os
import time

SLOWNESS = float(os.environ.get("BENCH_SLOWNESS", "1"))  # of this node


def nap(seconds: float) -> int:
    """Returns its node's process."""
    time.sleep(seconds * SLOWNESS)
    return os.getppid()


def note(folder: str, number: int, seconds: float) -> None:
    """Writes down when it begins, in a file of its child's own."""
    with open(os.path.join(folder, f"{os.getpid()}"), "a") as file:
        file.write(f"{number} {time.monotonic()}\n")
    time.sleep(seconds)


def poison(folder: str) -> None:
    """Leaves a mark for each try."""
    with open(os.path.join(folder, f"{time.monotonic_ns()}"), "w"):
        os._exit(7)
