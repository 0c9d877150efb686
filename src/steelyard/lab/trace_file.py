"""Traces from files: counts in CSV, or an access log (combined or JSON); the first line decides.

Each line of a CSV file has a time and a count. The time is in seconds, or a date in ISO 8601. The
count holds from its time to that of the next line. If lines are missing, the count before them is
repeated.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from math import inf, isfinite
from pathlib import Path
from statistics import median

from steelyard.errors import UsageError
from steelyard.lab.trace import Trace

BIN = 10  # seconds; lines of a log are counted in intervals of this length
HOLE = 12  # intervals: a longer gap is not filled
COMBINED = re.compile(r"\[(\d{2}/[A-Za-z]{3}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4})\]")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
HINT = "CSV with `time,requests`, or an access log, combined or JSON"


def read_trace(path: Path) -> Trace:
    """The trace in a file."""
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UsageError(f"--trace {path}: {why}", hint=HINT) from error
    if not lines:
        raise UsageError(f"--trace {path}: the file is empty", hint=HINT)
    if lines[0].lstrip().startswith("{"):
        return _logged(path, lines, _json_time)
    if COMBINED.search(lines[0]):
        return _logged(path, lines, _combined_time)
    return _counted(path, lines)


def _counted(path: Path, lines: Sequence[str]) -> Trace:
    rows = list(_rows(path, lines))
    if len(rows) < 2:
        raise UsageError(f"--trace {path}: one line is not an interval", hint="give two or more")
    for number, ((before, _), (after, _)) in enumerate(pairwise(rows), 2):
        if after <= before:
            raise UsageError(f"--trace {path}: times are not sorted (count {number})",
                             hint="sort its lines by time")  # fmt: skip
    usual = median(after - before for (before, _), (after, _) in pairwise(rows))
    edges, counts = [0.0], []
    for (time, count), (following, _) in pairwise([*rows, (rows[-1][0] + usual, 0.0)]):
        intervals = max(1, round((following - time) / usual))
        if intervals > HOLE:
            raise UsageError(f"--trace {path}: {intervals - 1} intervals are missing in one place",
                             hint="cut the file there")  # fmt: skip
        for _ in range(intervals):
            edges.append(edges[-1] + (following - time) / intervals)
            counts.append(count)
    return Trace(path.stem, edges, counts)


def _rows(path: Path, lines: Sequence[str]) -> Iterator[tuple[float, float]]:
    for number, row in enumerate(csv.reader(lines), 1):
        try:
            time, count = row[:2]
            told = _time(time), float(count)
        except ValueError as error:
            if number == 1:
                continue  # the names of the columns
            raise UsageError(
                f"--trace {path}, line {number} has no time and count", hint=HINT
            ) from error
        if not isfinite(told[0]) or not 0 <= told[1] < inf:
            raise UsageError(f"--trace {path}, line {number}: a count of {count} at {time}",
                             hint="counts are requests: 0 or more")  # fmt: skip
        yield told


def _time(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return _stamp(datetime.fromisoformat(text.strip()))


def _stamp(when: datetime) -> float:
    """Seconds since 1970. A time without a zone is taken as UTC, which has no daylight saving."""
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _logged(path: Path, lines: Sequence[str], when: Callable[[str], float]) -> Trace:
    """Count the lines of a log. They stand in the order in which requests ended, so times may go
    back.
    """
    bins: Counter[int] = Counter()
    for number, line in enumerate(lines, 1):
        try:
            bins[int(when(line) // BIN)] += 1
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"--trace {path}, line {number} has no time", hint=HINT) from error
    first, last = min(bins), max(bins)
    edges = [float(BIN * (number - first)) for number in range(first, last + 2)]
    return Trace(path.stem, edges, [bins[number] for number in range(first, last + 1)])


def _combined_time(line: str) -> float:
    found = COMBINED.search(line)
    if found is None:
        raise ValueError(line)
    day, month, rest = found[1].split("/")
    number = MONTHS.index(month) + 1  # strptime would go by the words of the locale
    return _stamp(datetime.strptime(f"{day}/{number}/{rest}", "%d/%m/%Y:%H:%M:%S %z"))


def _json_time(line: str) -> float:
    """The time of a JSON line, under our gateway's name for it or another usual one."""
    told = json.loads(line)
    for name in ("time", "timestamp", "@timestamp", "ts", "time_local", "time_iso8601"):
        if name in told:
            return _time(str(told[name]))
    raise KeyError("time")
