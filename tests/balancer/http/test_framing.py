"""Tests of the framing of bodies, both reading and writing."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.http.fields import BadMessageError
from steelyard.balancer.http.framing import (
    Body,
    ChunkedBody,
    EndlessBody,
    chunk,
    last_chunk,
    length_body,
)


def fed(body: Body, *pieces: bytes) -> bytes:
    """The payload of all pieces."""
    out = b""
    for piece in pieces:
        out += b"" if body.done else bytes(body.feed(memoryview(piece)))
    return out


def test_length_takes_exactly_its_bytes() -> None:
    """Bytes after the declared length belong to the next message."""
    body = length_body(5)
    assert fed(body, b"abc") == b"abc"
    assert not body.done
    assert fed(body, b"deNEXT") == b"de"
    assert body.done
    assert bytes(body.rest) == b"NEXT"


def test_length_zero_is_done() -> None:
    """A body of length zero is done without any bytes."""
    assert length_body(0).done


def test_endless_is_never_done() -> None:
    """A body without a length has no end but the end of the connection."""
    body = EndlessBody()
    assert fed(body, b"abc", b"def") == b"abcdef"
    assert not body.done


@pytest.mark.parametrize(
    ("raw", "payload"),
    [
        (b"0\r\n\r\n", b""),
        (b"3\r\nabc\r\n0\r\n\r\n", b"abc"),
        (b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", b"abcde"),
        (b"A\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        (b"0003\r\nabc\r\n000\r\n\r\n", b"abc"),
        (b"3;a=b\r\nabc\r\n0\r\n\r\n", b"abc"),
        (b'3 ; a = "b\\"c" ; d\r\nabc\r\n0;x\r\n\r\n', b"abc"),
        (b"2\r\n\r\n\r\n0\r\n\r\n", b"\r\n"),
    ],
)
def test_good_chunks(raw: bytes, payload: bytes) -> None:
    """Chunks are joined, extensions dropped, and the bytes after the last chunk kept apart."""
    body = ChunkedBody()
    assert fed(body, raw + b"NEXT") == payload
    assert body.done
    assert body.rest == b"NEXT"


@pytest.mark.parametrize(
    "raw",
    [
        b"\r\nabc",
        b"x\r\n",
        b"-1\r\n",
        b"+1\r\n",
        b"0x1\r\n",
        b"1_0\r\n",
        b" 3\r\nabc",
        b"3 \r\nabc",
        b"3\nabc\n0\n\n",
        b"3\r\nabcd\r\n",
        b"3\r\nabc0\r\n\r\n",
        b"3\r\nabc\n0\r\n\r\n",
        b"3\r\nabc\rX",
        b"3;\r\nabc",
        b"3;a=\r\nabc",
        b'3;a="\r\nabc',
        b"3;a\x00\r\nabc",
        b"3;a\nb\r\nabc",
        b"F" * 16 + b"\r\n",
        b"3;" + b"a" * 1100 + b"\r\nabc",
        b"3;" + b"a" * 1100,
        b"0\r\nA b\r\n\r\n",
        b"0\r\nA : b\r\n\r\n",
        b"0\r\nA: b\nC: d\r\n\r\n",
        b"0\r\n folded\r\n\r\n",
        b"0\r\nA: \0\r\n\r\n",
    ],
)
def test_bad_chunks(raw: bytes) -> None:
    """A chunked body that could be read in two ways is refused."""
    with pytest.raises(BadMessageError) as caught:
        ChunkedBody().feed(raw)
    assert caught.value.status == 400


def test_too_long_trailers() -> None:
    """Trailers have limits like those of heads, in bytes and in number."""
    for raw in (b"0\r\n" + b"A: " + b"x" * 20_000, b"0\r\n" + b"A: b\r\n" * 101 + b"\r\n"):
        with pytest.raises(BadMessageError) as caught:
            ChunkedBody().feed(raw)
        assert caught.value.status == 431


def test_limit_counts_payload() -> None:
    """A chunked body over the limit is refused when the size of the excess chunk arrives."""
    assert fed(ChunkedBody(5), b"5\r\nabcde\r\n0\r\n\r\n") == b"abcde"
    body = ChunkedBody(5)
    body.feed(b"3\r\nabc\r\n")
    with pytest.raises(BadMessageError) as caught:
        body.feed(b"3\r\n")
    assert caught.value.status == 413


@pytest.mark.parametrize("name", [b"Content-Length", b"transfer-encoding"])
def test_trailers_that_frame_are_refused(name: bytes) -> None:
    """A trailer that frames a message is refused."""
    with pytest.raises(BadMessageError) as caught:
        ChunkedBody().feed(b"0\r\nX-Sum: 1\r\n" + name + b": 5\r\n\r\n")
    assert caught.value.status == 400


def test_trailers_travel_without_routing_fields() -> None:
    """Trailers are kept, except for Host and fields of the connection."""
    body = ChunkedBody()
    body.feed(b"0\r\nX-Sum: 1\r\nHost: x\r\nConnection: y\r\nExpires: 0\r\n\r\n")
    assert body.trailers() == [b"X-Sum: 1", b"Expires: 0"]
    assert last_chunk(body.trailers()) == b"0\r\nX-Sum: 1\r\nExpires: 0\r\n\r\n"


def test_no_payload_is_no_chunk() -> None:
    """No chunk is written for an empty payload, since an empty chunk would end the body."""
    assert chunk(b"") == b""
    assert last_chunk([]) == b"0\r\n\r\n"


@given(st.lists(st.binary(max_size=300), max_size=6), st.lists(st.integers(0, 3000), max_size=10))
def test_round_trip_over_any_split(payloads: list[bytes], cuts: list[int]) -> None:
    """A chunked body that is split anywhere is decoded to the same payload and the same rest."""
    raw = b"".join(map(chunk, payloads)) + last_chunk([b"A: b"]) + b"NEXT"
    edges = sorted({0, len(raw), *(cut % len(raw) for cut in cuts)})
    body = ChunkedBody()
    out, behind = b"", b""
    for start, end in itertools.pairwise(edges):
        if body.done:
            behind += raw[start:end]
        else:
            out += body.feed(raw[start:end])
            behind += body.rest
    assert out == b"".join(payloads)
    assert behind == b"NEXT"
    assert body.trailers() == [b"A: b"]


@given(st.binary(max_size=120), st.integers(1, 119))
def test_garbage_is_refused_or_read_alike(raw: bytes, cut: int) -> None:
    """Garbage has the same outcome in one piece and in two pieces."""
    assert _outcome(raw[:cut], raw[cut:]) == _outcome(raw)


def _outcome(*pieces: bytes) -> object:
    body = ChunkedBody()
    try:
        payload = fed(body, *pieces)
    except BadMessageError as bad:
        return bad.status
    return payload, body.done


@pytest.mark.parametrize("end", [b"\r\r\n", b"X: y\n", b"X: a\rb\r\n"])
def test_trailers_that_can_no_longer_be_right_are_not_waited_for(end: bytes) -> None:
    """A bare CR or LF in trailers is refused at once, before the trailers are complete."""
    with pytest.raises(BadMessageError, match="bare CR or LF"):
        ChunkedBody().feed(b"0\r\nA: b\r\n" + end)


def test_trailers_whose_line_end_is_on_its_way_are() -> None:
    """A CR at the end of a receive may be the first half of a line break."""
    body = ChunkedBody()
    body.feed(b"0\r\nA: b\r")
    body.feed(b"\n\r")
    assert not body.done
    body.feed(b"\n")
    assert body.done
    assert body.trailers() == [b"A: b"]
