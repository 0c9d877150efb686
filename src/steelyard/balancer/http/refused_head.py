"""Refused heads: parses what it can of a request's head that was refused or is incomplete.

The result is for the access log, and for the id of a refused request. The grammar's parser returns
nothing unless the whole head is well-formed.
"""

from __future__ import annotations

import re

from steelyard.balancer.http.alphabets import TARGET, TOKEN
from steelyard.balancer.http.authority import is_authority
from steelyard.balancer.http.heads import RequestHead
from steelyard.balancer.http.names import REQUEST_ID

MOST = 16 * 1024  # bytes of a head that are kept, as notes of refused requests may wait for the log
_LINE = re.compile(
    rb"([%b]+) ([%b]+) (HTTP/[0-9]\.[0-9])" % (re.escape(TOKEN), re.escape(TARGET.members))
)


def read_refused(data: bytes) -> RequestHead | None:
    """Return the head at the front of `data`, as far as it came; None if its first line is missing
    or malformed."""
    text = data[:MOST].partition(b"\r\n\r\n")
    lines = text[0].split(b"\r\n") if text[1] else text[0].split(b"\r\n")[:-1]
    match = _LINE.fullmatch(lines[0]) if lines else None
    if match is None:
        return None
    head = RequestHead(match[1], b"\r\n".join(lines), match[3] != b"HTTP/1.0")
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        _note(head, name.lower(), value.strip(b" \t"))
    return head


def _note(head: RequestHead, name: bytes, value: bytes) -> None:
    if name == b"host" and not head.host and is_authority(value):
        head.host = value
    elif name == b"x-request-id":
        head.claims = [*(head.claims or ()), (REQUEST_ID, value)]
