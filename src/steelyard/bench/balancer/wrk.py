"""wrk: the client of all HTTP cases.

Its own output rounds and changes units. The `done` function of a script has the exact figures, and
costs nothing while requests run. There is no `request` function, so wrk builds the request only
once.
"""

from __future__ import annotations

import json
from pathlib import Path

from steelyard.bench.balancer.cases import Case
from steelyard.bench.balancer.counts import MARK
from steelyard.bench.ports import HOST
from steelyard.bench.tools import find

_DONE = """
done = function(summary, latency, requests)
  local e = summary.errors
  io.write('MARK{"requests": ', summary.requests, ', "seconds": ', summary.duration / 1e6,
    ', "bytes": ', string.format("%.0f", summary.bytes),
    ', "p50_us": ', latency:percentile(50), ', "p99_us": ', latency:percentile(99),
    ', "errors": ', e.connect + e.read + e.write + e.status + e.timeout, '}\\n')
end
""".replace("MARK", MARK)


def script(case: Case) -> str:
    """The case as a Lua script."""
    lines = [f"wrk.method = {json.dumps(case.method)}"]
    lines += [f"wrk.headers[{json.dumps(k)}] = {json.dumps(v)}" for k, v in case.fields.items()]
    if case.upload:
        lines.append(f'wrk.body = string.rep("x", {case.upload})')
    return "\n".join(lines) + "\n" + _DONE


def words(case: Case, port: int, seconds: int, connections: int, folder: Path) -> list[str]:
    """The command line of wrk; its script is written into the folder."""
    file = folder / f"{case.name}.lua"
    file.write_text(script(case))
    options = ["-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "5s"]
    return [find("wrk") or "wrk", *options, "-s", str(file), f"http://{HOST}:{port}{case.path}"]
