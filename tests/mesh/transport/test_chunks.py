from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.mesh.transport.chunks import Assembly, split


@given(st.binary(), st.integers(1, 10))
def test_pieces_make_up_the_payload(payload: bytes, cap: int) -> None:
    """No piece is larger than the cap, and there is always one."""
    pieces = split(payload, cap)
    assert all(len(piece) <= cap for piece in pieces)
    assembly = Assembly(len(pieces))
    made = [assembly.add(at, len(pieces), bytes(piece)) for at, piece in enumerate(pieces)]
    assert made == [None] * (len(pieces) - 1) + [payload]


@pytest.mark.parametrize(("index", "count"), [(1, 3), (0, 2), (2, 3)])
def test_a_piece_out_of_turn_is_refused(index: int, count: int) -> None:
    """A piece out of turn is refused, as it belongs to another payload."""
    with pytest.raises(ValueError, match="piece"):
        Assembly(3).add(index, count, b"x")
