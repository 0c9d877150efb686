"""How a driver is driven: `units milliseconds` in, the seconds they took out, a line each."""

import json
import sys
import time
from collections.abc import Callable


def serve(run: Callable[[int, float], dict[str, float] | None]) -> None:
    """Warm up, say so, and run what is asked for until there is nothing more."""
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
