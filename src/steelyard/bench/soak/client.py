"""Runs wrk for the whole time, and measures its speed meanwhile."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

from steelyard.bench.launch import LaunchError
from steelyard.bench.ports import HOST
from steelyard.bench.tools import find
from steelyard.runtime.procfs import PROC

MARK = "counted: "
WINDOW = 5.0  # seconds: the slowest window shows whether a rate was held
GRACE = 30.0

_DONE = """
done = function(summary, latency, requests)
  local e = summary.errors
  io.write('MARK{"requests": ', summary.requests, ', "seconds": ', summary.duration / 1e6,
    ', "bytes": ', string.format("%.0f", summary.bytes),
    ', "p50_us": ', latency:percentile(50), ', "p99_us": ', latency:percentile(99),
    ', "failures": {"connect": ', e.connect, ', "read": ', e.read, ', "write": ', e.write,
    ', "status": ', e.status, ', "timeout": ', e.timeout, '}}\\n')
end
""".replace("MARK", MARK)


# Each request has its time, GAP ms after the one before; a free connection takes the next request.
# A client that is late catches up, but by no more than a second. wrk gives scripts no clock, so
# LuaJIT asks the system.
_PACE = """
local ffi = require("ffi")
ffi.cdef[[
  typedef struct { long seconds; long micros; } moment;
  int gettimeofday(moment *now, void *zone);
]]
local moment, slot = ffi.new("moment"), 0
delay = function()
  ffi.C.gettimeofday(moment, nil)
  local now = tonumber(moment.seconds) * 1000 + tonumber(moment.micros) / 1000
  slot = slot == 0 and now or math.max(slot + GAP, now - 1000)
  return math.max(0, math.floor(slot - now))
end
"""


def script(rate: int) -> str:
    """The Lua script: as many requests as possible, or so many per second."""
    return (_PACE.replace("GAP", str(1000 / rate)) if rate else "") + _DONE


class Client:
    """A running wrk; `finish` returns its counts."""

    def __init__(self, port: int, seconds: int, connections: int, rate: int, folder: Path) -> None:
        file = folder / "soak.lua"
        file.write_text(script(rate))
        words = [find("wrk") or "wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s"]
        words += ["--timeout", "10s", "-s", str(file), f"http://{HOST}:{port}/"]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self._marks: list[tuple[float, int]] = []
        self._limit = seconds + GRACE
        self.began = time.monotonic()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def over(self) -> bool:
        return self._process.poll() is not None

    def mark(self) -> None:
        """Note how many bytes wrk has read so far (proc_pid_io(5)); all answers have one size."""
        try:
            text = (PROC / str(self._process.pid) / "io").read_text()
        except OSError:
            return  # wrk has ended, or we may not read its counters
        self._marks.append((time.monotonic(), int(text.split()[1])))

    def finish(self) -> dict[str, Any]:
        """Wait for the end of wrk; return its counts."""
        output, _ = self._process.communicate(timeout=self._limit)
        for line in output.decode(errors="replace").splitlines():
            if line.startswith(MARK):
                counts: dict[str, Any] = json.loads(line.removeprefix(MARK))
                size = counts.pop("bytes") / counts["requests"] if counts["requests"] else 0
                return {**counts, "slowest": slowest(self._marks, size)}
        raise LaunchError(f"wrk counted nothing: {output.decode(errors='replace').strip()[-300:]}")


def slowest(marks: list[tuple[float, int]], size: float) -> float | None:
    """The least rate of answers in any window between two marks; None if the run was too short."""
    rates = []
    first = 0
    for then, read in marks:
        while first + 1 < len(marks) and then - marks[first + 1][0] >= WINDOW:
            first += 1
        began, before = marks[first]
        if then - began >= WINDOW and size:
            rates.append((read - before) / size / (then - began))
    return min(rates, default=None)
