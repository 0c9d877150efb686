"""Tests of the tracker that finds where WebSocket frames begin and end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Close, Frame, Opcode

from steelyard.balancer.exchange.frames import Frames, close_frame
from tests.balancer.reading import cut


def text(size: int, mask: bool = False) -> bytes:
    return Frame(Opcode.BINARY, b"x" * size).serialize(mask=mask)


SIZES = st.sampled_from([0, 1, 2, 125, 126, 127, 65535, 65536])
FRAMES = st.lists(st.builds(text, SIZES, st.booleans()), min_size=1, max_size=4)


@given(FRAMES, st.lists(st.integers(0, 1 << 20), max_size=8))
def test_frames_in_any_pieces(frames: list[bytes], places: list[int]) -> None:
    """However the octets are split, the tracker is between frames exactly at the ends of frames."""
    data = b"".join(frames)
    ends = {sum(map(len, frames[: number + 1])) for number in range(len(frames))}
    tracker, passed = Frames(), 0
    for piece in cut(data, places):
        tracker.feed(memoryview(piece))
        passed += len(piece)
        assert tracker.between == (passed in ends)
    assert not tracker.closed


@given(FRAMES, st.integers(0, 1 << 20))
def test_a_step_ends_with_its_frame(frames: list[bytes], place: int) -> None:
    """From anywhere within a frame, a step goes to the end of that frame and no further."""
    data = b"".join(frames)
    begun = place % len(data)
    ends = [sum(map(len, frames[: number + 1])) for number in range(len(frames))]
    tracker = Frames()
    tracker.feed(data[:begun])
    assert tracker.step(data, begun) == next(end for end in ends if end > begun)
    assert tracker.between


def test_every_octet_of_a_long_header() -> None:
    """The tracker is not between two frames after any octet of a header of 14 octets."""
    tracker = Frames()
    for octet in text(65536, mask=True)[:14]:
        tracker.feed(bytes([octet]))
        assert not tracker.between


@pytest.mark.parametrize("mask", [False, True])
def test_a_close_is_seen(mask: bool) -> None:
    """After a Close frame the tracker reports that the stream of frames is closed."""
    tracker = Frames()
    tracker.feed(text(3, mask=mask))
    assert not tracker.closed
    tracker.feed(Frame(Opcode.CLOSE, Close(1000, "").serialize()).serialize(mask=mask))
    assert tracker.closed
    assert tracker.between


def test_a_length_that_is_none() -> None:
    """After a length with its first bit set, which RFC 6455 forbids, the tracker stays lost."""
    tracker = Frames()
    tracker.feed(b"\x82\x7f\x80" + bytes(7))
    assert tracker.lost
    assert not tracker.between
    tracker.feed(text(1))
    assert not tracker.between


def test_our_close_frames() -> None:
    """The balancer's Close frames are those that the library `websockets` would write."""
    close = Frame(Opcode.CLOSE, Close(1001, "").serialize())
    assert close_frame() == close.serialize(mask=False)
    masked = close_frame(b"\x01\x02\x03\x04")
    assert masked[:6] == b"\x88\x82\x01\x02\x03\x04"
    assert bytes(a ^ b for a, b in zip(masked[6:], b"\x01\x02", strict=True)) == b"\x03\xe9"
