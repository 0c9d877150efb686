"""Fuzzing of chunked bodies: garbage, splits, and a comparison with a second decoder."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.http.fields import BadMessageError
from steelyard.balancer.http.framing import ChunkedBody, chunk, last_chunk
from tests.balancer import reading
from tests.balancer.fuzz import recipes
from tests.balancer.fuzz.budget import bounded
from tests.balancer.fuzz.recipes import Framed

crumbs = st.lists(st.sampled_from([*recipes.SPARKS, b"3\r\nabc\r\n", b"a", b"X: y\r\n"]))


def decode(pieces: list[bytes]) -> tuple[bytes, list[bytes], bool, bytes] | None:
    """Payload, trailers, whether the body ended, and the rest; None when the body is refused."""
    body, out, rest = ChunkedBody(), b"", b""
    try:
        for piece in pieces:
            if body.done:
                rest += piece
            else:
                out += body.feed(memoryview(piece))
                rest += bytes(body.rest)
    except BadMessageError:
        return None
    return out, body.trailers(), body.done, rest


def naive(raw: bytes) -> bytes:
    """The payload of a chunked body that is known to be good."""
    out = b""
    while True:
        line, _, raw = raw.partition(b"\r\n")
        size = int(line.partition(b";")[0], 16)
        if not size:
            return out
        out, raw = out + raw[:size], raw[size + 2 :]


@bounded(150)
@given(recipes.chunked(), recipes.cuts)
def test_good_chunks(framed: Framed, cuts: list[int]) -> None:
    """A good body is decoded however it is split, and also after it is framed anew."""
    pieces = reading.cut(framed.wire + b"NEXT", cuts)
    assert decode(pieces) == (framed.body, framed.trailers, True, b"NEXT")
    assert naive(framed.wire) == framed.body
    again = chunk(framed.body) + last_chunk(framed.trailers)
    assert decode([again]) == (framed.body, framed.trailers, True, b"")


@bounded(300)
@given(crumbs, recipes.cuts)
def test_garbage(pieces: list[bytes], cuts: list[int]) -> None:
    """Garbage is refused or decoded, however it is split, and raises no other error."""
    raw = b"".join(pieces)
    whole = decode([raw])
    assert decode(reading.cut(raw, cuts)) == whole
    if whole is not None and whole[2]:
        assert naive(raw) == whole[0]
