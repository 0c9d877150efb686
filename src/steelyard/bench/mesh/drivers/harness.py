"""The protocol of a driver: it reads lines of `units milliseconds`, and prints the seconds for
each.
"""

import json
import sys
import time
from collections.abc import Callable


def serve(run: Callable[[int, float], dict[str, float] | None]) -> None:
    """Warm up, say that we are ready, and run what is asked for until the input ends."""
    run(64, 0.1)
    _say({"ready": True})
    for line in sys.stdin:
        units, milliseconds = line.split()
        began = time.perf_counter()
        told = run(int(units), float(milliseconds))
        _say({"seconds": time.perf_counter() - began, **(told or {})})


def _say(told: dict[str, float]) -> None:
    sys.stdout.write(f"driver {json.dumps(told)}\n")
    sys.stdout.flush()
