"""Recognizes the lines that our probes caused in the access log of a worker.

A line that has our User-Agent is one of them. If an access log shows no User-Agent, a line with a
`GET` of the probe's path without a query counts as one; a client's own `GET` of that path looks the
same. A line with a status of 400 or more never counts, because a failed probe is worth reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from steelyard.agent.prober import USER_AGENT

_STATUS = r'"?,? (?P<status>\d{3})\b'
_NAMED = re.compile(
    r"""(?:HTTP/\d\.\d["']?,?|(?:status|code)["']?\s*[:=])\s*["']?(\d{3})\b""", re.I
)
# In a format without names of its fields, the status is the first number of three digits.
_ALONE = re.compile(r"(?<!\S)(\d{3})(?!\S)")
_AGENT = r'(?: \S+ "[^"]*" "(?P<agent>[^"]*)")?'  # the User-Agent in the combined log format


def other_than_probes(path: str | None) -> Callable[[str], bool]:
    """A function that returns False for lines of probes of this path, and True for others.

    A `path` of None means that probes only connect, which no access log shows.
    """
    if path is None:
        return lambda line: True
    request = re.compile(rf"\bGET {re.escape(path)} HTTP/1\.1" + _STATUS + _AGENT)
    return lambda line: not _is_probe(request, line)


def _is_probe(request: re.Pattern[str], line: str) -> bool:
    found = request.search(line)
    if found is None:
        return USER_AGENT in line and not _shows_failure(line)
    ours = found["agent"] is None or USER_AGENT in found["agent"]
    return ours and int(found["status"]) < 400


def _shows_failure(line: str) -> bool:
    """Whether a line of an access log, in whatever format, has the status of an error."""
    status = _NAMED.search(line) or _ALONE.search(line)
    return status is not None and int(status[1]) >= 400
