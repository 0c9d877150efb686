"""Refused heads: what can be told of a request whose head was refused, or never came whole.

Only the access log uses it. The reader of heads (grammar) gives nothing out before all of a head is
well-formed.
"""

from __future__ import annotations

import re

from steelyard.balancer.http.alphabets import TARGET, TOKEN
from steelyard.balancer.http.authority import is_authority
from steelyard.balancer.http.heads import RequestHead
from steelyard.balancer.http.names import REQUEST_ID

MOST = 16 * 1024  # of a head, for notes of refused requests may wait in the access log
_LINE = re.compile(
    rb"([%b]+) ([%b]+) (HTTP/[0-9]\.[0-9])" % (re.escape(TOKEN), re.escape(TARGET.members))
)


def read_refused(data: bytes) -> RequestHead | None:
    """The head that these bytes begin with, as far as it came; None when its first line is not
    there or not well-formed."""
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
