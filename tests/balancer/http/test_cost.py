"""Tests that the work of the reader grows no faster than the size of its input.

Work is counted in calls of Python and of C functions, and not in time, so that the counts are the
same on every machine. The functions work on whole buffers, so a constant number of calls is work in
proportion to the size.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest

from steelyard.balancer.http.grammar import skip_empty_lines
from tests.balancer import reading
from tests.balancer.cases.case import CHUNKED, HOST, get, head, post


def calls(work: Callable[[], object]) -> int:
    """The number of calls that some work takes."""
    count = 0

    def note(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def _bytewise(data: bytes) -> Iterator[bytes]:
    return (data[at : at + 1] for at in range(len(data)))


# Inputs of size n, for each of which the work of a careless reader is quadratic or worse.
REQUESTS: dict[str, Callable[[int], bytes]] = {
    "fields": lambda n: get(HOST, *[b"A: b"] * n),
    "unusual names": lambda n: get(HOST, *[b"a-%d_: b" % i for i in range(n)]),
    "connection options": lambda n: get(HOST, b"Connection: " + b"a," * n),
    "options and fields": lambda n: get(
        HOST, b"Connection: " + b",".join(b"q%d" % i for i in range(n)), *[b"q9: b"] * n
    ),
    "forwarded entries": lambda n: get(HOST, *[b"X-Forwarded-For: a"] * n),
    "blanks in a value": lambda n: get(HOST, b"A: " + b" \t" * n),
    "colons": lambda n: get(HOST, b"A" + b":" * n),
    "long host": lambda n: get(b"Host: " + b"%41" * n),
    "long bad host": lambda n: get(b"Host: " + b"a" * n + b"%"),
    "colons in brackets": lambda n: get(b"Host: [" + b":" * n + b"]"),
    "long absolute target": lambda n: head(b"GET http://a" + b"/?" * n + b" HTTP/1.1", HOST),
    "spaces in the request line": lambda n: head(b"GET" + b" " * n + b"/ HTTP/1.1", HOST),
    "empty lines": lambda n: b"\r\n" * n + get(HOST),
    "bare LFs": lambda n: b"GET / HTTP/1.1" + b"\n" * n,
    "bare CRs": lambda n: get(HOST, b"A: " + b"\r" * n),
    "tiny chunks": lambda n: post(CHUNKED, body=b"1\r\na\r\n" * n + b"0\r\n\r\n"),
    "extensions": lambda n: post(CHUNKED, body=b"1" + b";a" * (n // 2) + b"\r\na\r\n0\r\n\r\n"),
    "open quotes": lambda n: post(CHUNKED, body=b"1" + b';a="' * (n // 4) + b"\r\na\r\n0\r\n\r\n"),
    "blanks before an extension": lambda n: post(CHUNKED, body=b"1" + b" " * n + b"\r\na\r\n"),
    "trailers": lambda n: post(CHUNKED, body=b"0\r\n" + b"A: b\r\n" * n + b"\r\n"),
    "pipelined": lambda n: get(HOST) * n,
}
SMALL, FACTOR = 40, 8
SLACK = 1.5  # factor over proportion
BASE = 200  # calls that do not depend on the size


@pytest.mark.parametrize("make", REQUESTS.values(), ids=REQUESTS.keys())
def test_work_grows_no_faster_than_the_input(make: Callable[[int], bytes]) -> None:
    """For eight times the input the work is at most about eight times as much."""
    small, large = make(SMALL), make(SMALL * FACTOR)
    before = calls(lambda: reading.requests([small], limit=1 << 20, fields=10_000))
    after = calls(lambda: reading.requests([large], limit=1 << 20, fields=10_000))
    assert after <= BASE + before * FACTOR * SLACK


@pytest.mark.parametrize("make", REQUESTS.values(), ids=REQUESTS.keys())
def test_work_per_receive_is_bounded(make: Callable[[int], bytes]) -> None:
    """When a message arrives byte by byte, each receive costs a few calls, whatever came before."""
    data = make(SMALL * FACTOR)
    whole = calls(lambda: reading.requests([data], limit=1 << 20, fields=10_000))
    pieces = list(_bytewise(data))
    assert calls(lambda: reading.requests(pieces, limit=1 << 20, fields=10_000)) <= (
        whole + 25 * len(pieces)
    )


def test_empty_lines_are_skipped_in_one_step() -> None:
    """Many empty lines cost as many calls as one; a loop would copy the rest for each line."""
    few = calls(lambda: skip_empty_lines(b"\r\n" + b"GET"))
    assert calls(lambda: skip_empty_lines(b"\r\n" * 500_000 + b"GET")) == few


@pytest.mark.parametrize("start", [b"HTTP/1.1 103 Early Hints", b"HTTP/1.1 100 "])
def test_interim_answers_cost_the_same_each(start: bytes) -> None:
    """The work for many interim answers is in proportion to their number."""
    final = head(b"HTTP/1.1 200 OK", b"Content-Length: 0")
    small, large = head(start) * 10 + final, head(start) * 80 + final
    before = calls(lambda: reading.answer([small]))
    assert calls(lambda: reading.answer([large])) <= BASE + before * FACTOR * SLACK
