"""Which lines of a log a health check of ours caused: those that an access log has of our probes.

A line that names our User-Agent is one. Where an access log shows no User-Agent, a line of a `GET`
of the probe's path without a query counts as one, and a client's own `GET` of that path looks the
same. A probe that failed is news, so a line that shows a status of 400 or more is none of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from steelyard.agent.prober import USER_AGENT

_STATUS = r'"?,? (?P<status>\d{3})\b'
_NAMED = re.compile(
    r"""(?:HTTP/\d\.\d["']?,?|(?:status|code)["']?\s*[:=])\s*["']?(\d{3})\b""", re.I
)
_ALONE = re.compile(r"(?<!\S)(\d{3})(?!\S)")  # of a format with no names, the status comes first
_AGENT = r'(?: \S+ "[^"]*" "(?P<agent>[^"]*)")?'  # of the combined log format


def other_than_probes(path: str | None) -> Callable[[str], bool]:
    """A test that is true for each line but those of probes of this path; None: there is none."""
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
    """Whether the line of an access log in any format has the status of an error."""
    status = _NAMED.search(line) or _ALONE.search(line)
    return status is not None and int(status[1]) >= 400
