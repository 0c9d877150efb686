"""Tests of how an answer's bytes become the bytes for the client, without sockets."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.exchange.answer import Answer
from steelyard.balancer.http.fields import BadMessageError
from steelyard.balancer.http.grammar import Reader
from tests.balancer.reading import NOON, request_head

NEW = request_head(b"GET / HTTP/1.1\r\nHost: a")
OLD = request_head(b"GET / HTTP/1.0\r\nConnection: keep-alive")
HEAD = request_head(b"HEAD / HTTP/1.1\r\nHost: a")

ANSWERS = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n",
    b"HTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 204 None\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello too much",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"HTTP/1.1 101 Switch\r\n\r\n",
    b"nonsense\r\n\r\n",
]


def played(request: object, pieces: list[bytes]) -> object:
    """Feed an answer in these pieces; return head, body and whether the client's connection is
    kept, or "refused"."""
    answer = Answer(request, Reader(1000, 50), NOON)  # type: ignore[arg-type]
    out = b""
    try:
        for piece in pieces:
            if not answer.done:
                out += answer.feed(piece, closing=False)
        if not answer.done:
            out += answer.end()
    except BadMessageError:
        return "refused"
    head, _, body = out.rpartition(b"\r\n\r\n") if answer.until_close else (out, b"", b"")
    return head, body, answer.keep


@given(
    st.sampled_from(ANSWERS),
    st.sampled_from([NEW, OLD, HEAD]),
    st.lists(st.integers(0, 200), max_size=6),
)
def test_any_split_gives_the_same_answer(raw: bytes, request: object, cuts: list[int]) -> None:
    """However an answer is split over receives, the client gets the same answer."""
    edges = sorted({0, len(raw), *(cut % len(raw) for cut in cuts)})
    pieces = [raw[a:b] for a, b in itertools.pairwise(edges)]
    split, whole = played(request, pieces), played(request, [raw])
    if isinstance(split, tuple) and isinstance(whole, tuple):
        assert _payload(split[0]) == _payload(whole[0])
        assert split[1:] == whole[1:]
    else:
        assert split == whole


def _payload(raw: bytes) -> bytes:
    """Remove the chunk sizes, since they depend on the pieces received."""
    lines = raw.split(b"\r\n")
    return b"".join(line for line in lines if len(line) != 1 or not line.isdigit())


@pytest.mark.parametrize(
    ("request_head", "answer", "keep"),
    [
        (NEW, ANSWERS[0], True),
        (NEW, ANSWERS[1], True),
        (NEW, ANSWERS[4], True),
        (OLD, ANSWERS[0], True),
        (OLD, ANSWERS[1], False),
        (OLD, ANSWERS[4], False),
        (HEAD, b"HTTP/1.1 200 OK\r\n\r\n", True),
    ],
)
def test_which_client_connections_go_on(request_head: object, answer: bytes, keep: bool) -> None:
    """A client's connection stays open when the client can tell where the answer ended."""
    outcome = played(request_head, [answer])
    assert isinstance(outcome, tuple)
    assert outcome[2] is keep


@pytest.mark.parametrize(
    ("raw", "reusable"),
    [
        (ANSWERS[0], True),
        (ANSWERS[1], True),
        (ANSWERS[3], True),
        (ANSWERS[5], False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", False),
        (b"HTTP/1.1 204 None\r\n\r\nsurplus", False),
    ],
)
def test_which_worker_connections_go_on(raw: bytes, reusable: bool) -> None:
    """A worker's connection is reused when the worker allows it and no bytes are left on it."""
    answer = Answer(NEW, Reader(1000, 50), NOON)
    answer.feed(raw, closing=False)
    assert answer.done
    assert answer.reusable() is reusable


def test_closing_is_said() -> None:
    """When the client's connection is going to be closed, the answer says Connection: close."""
    answer = Answer(NEW, Reader(1000, 50), NOON)
    assert b"Connection: close" in bytes(answer.feed(ANSWERS[0], closing=True))


def test_a_cut_answer_has_no_end() -> None:
    """The end of the connection ends only an answer without a length; another answer is cut."""
    answer = Answer(NEW, Reader(1000, 50), NOON)
    answer.feed(ANSWERS[0][:-1], closing=False)
    with pytest.raises(BadMessageError):
        answer.end()
