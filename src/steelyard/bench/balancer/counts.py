"""The counts of a client in one round, and the line in which it prints them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

MARK = "counted: "


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of one round, as the client saw it."""

    requests: int
    seconds: float
    bytes: int
    p50_us: float
    p99_us: float
    errors: int  # failed connections, time-outs, and answers above 399

    def line(self) -> str:
        return f"{MARK}{json.dumps(asdict(self))}\n"


def parse_counts(text: str) -> Counts:
    """Parse the counts in a client's output; ValueError if there are none."""
    for line in text.splitlines():
        if line.startswith(MARK):
            return Counts(**json.loads(line.removeprefix(MARK)))
    raise ValueError(f"the client printed no counts: {text.strip()[-300:] or 'nothing'}")
