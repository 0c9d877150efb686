"""Packing values as bytes and unpacking them."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.mesh.execution import wire
from steelyard.mesh.execution.outcome import Failure
from steelyard.mesh.execution.wire import (
    WireError,
    pack,
    pack_call,
    pack_failure,
    pack_parts,
    unpack,
    unpack_call,
    unpack_failure,
)

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text()
    | st.binary()
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(0, 9), inner),
    max_leaves=6,
)
ARRAYS = [
    numpy.arange(6, dtype="<i4").reshape(2, 3),
    numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3)),
    numpy.arange(20, dtype=">u2")[::3],
    numpy.zeros((0, 4)),
    numpy.array(5 + 1j),
    numpy.array(["ab", "c"]),
    numpy.array([True, False]),
    numpy.array(["2020-01-01"], dtype="M8[D]"),
]


@settings(max_examples=60)
@given(VALUES)
def test_values_come_back_as_they_were(value: Any) -> None:
    """Plain values survive packing and unpacking."""
    assert unpack(pack(value)) == value


def test_tuples_are_lists_but_as_keys() -> None:
    """Tuples become lists, except as keys, where a list is impossible."""
    keys = {(1, ("a", 2)): (3, 4), "plain": {(): None}}
    assert unpack(pack(keys)) == {(1, ("a", 2)): [3, 4], "plain": {(): None}}
    back = unpack(pack([keys, numpy.arange(3)]))
    assert back[0][1, ("a", 2)] == [3, 4]
    assert list(back[1]) == [0, 1, 2]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}-{array.shape}")
def test_arrays_come_back_beside_other_things(array: Any) -> None:
    """Type, shape and content are kept, in any memory layout."""
    back = unpack(pack({"before": 1, "arrays": [array, array], "after": 2j}))
    assert (back["before"], back["after"]) == (1, 2j)
    for one in back["arrays"]:
        assert one.dtype == array.dtype
        assert one.shape == array.shape
        assert (one == array).all()


def test_an_array_is_neither_copied_into_pieces_nor_out_of_the_message() -> None:
    """Packing yields the array's own memory, and the unpacked array is a view of the message."""
    array = numpy.arange(1000)
    pieces = pack_parts([array])
    assert any(
        numpy.shares_memory(numpy.frombuffer(piece, "u1"), array) for piece in pieces if piece
    )
    message = b"".join(pieces)
    (back,) = unpack(message)
    assert numpy.shares_memory(back, numpy.frombuffer(message, "u1"))
    assert not back.flags.writeable
    assert back.ctypes.data % 8 == 0


def test_numpy_scalars_and_tuples_arrive_as_what_is_next_to_them() -> None:
    """A numpy scalar becomes Python's, a tuple becomes a list."""
    assert unpack(pack((numpy.int64(7), numpy.float32(0.5), numpy.bool_(True)))) == [7, 0.5, True]
    assert unpack(pack([numpy.complex64(1 + 2j), numpy.complex128(3j)])) == [1 + 2j, 3j]
    assert math.isnan(unpack(pack(numpy.float64("nan"))))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (object(), "object"),
        ({1, 2}, "set"),
        (2**64, "int"),
        (numpy.array([object()]), "dtype object"),
        (lambda: None, "function"),
        (numpy.ma.masked_array([1, 2], [True, False]), "mask would be lost"),
        (memoryview(b"abcd")[::2], "not C-contiguous"),
    ],
)
def test_what_cannot_be_sent_is_named(value: object, said: str) -> None:
    """The error names the type, and the types that can be sent."""
    with pytest.raises(WireError, match=said):
        pack({"deep": [value]})


def test_what_is_too_large_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value is refused if its length does not fit into the 32 bits of a message."""
    monkeypatch.setattr(wire, "MOST", 1000)
    assert len(pack(bytes(990))) <= 1000
    for large in (bytes(1001), [numpy.zeros(100), numpy.zeros(100)]):
        with pytest.raises(WireError, match="at most 1000"):
            pack(large)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\xc1\0\0\0\xff\0\0\0",
        b"\x92\x01",
        b"\x01\x02",
        b"\xc7\x01\x63\x00",
        pack(numpy.arange(9))[:-1],
        b"\xc1\0\0\0" + pack(numpy.arange(9))[4:40],
    ],
)
def test_what_is_no_value_is_refused(data: bytes) -> None:
    """Malformed bytes raise WireError."""
    with pytest.raises(WireError):
        unpack(data)


@given(st.binary())
def test_any_bytes_are_a_value_or_refused(data: bytes) -> None:
    """No message can raise any other error."""
    for message in (data, b"\xc1\0\0\0" + data):
        with contextlib.suppress(WireError):
            unpack(message)


def test_calls_and_failures() -> None:
    """Calls and failures survive packing and unpacking."""
    assert unpack_call(pack_call(1, "a", key=[2])) == ([1, "a"], {"key": [2]})
    failure = Failure("KeyError", "'x'", "Traceback …")
    assert unpack_failure(pack_failure(failure)) == failure
