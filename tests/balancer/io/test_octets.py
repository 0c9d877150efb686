"""Tests of functions on octets, for the implementation in use: Python or C."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.io import octets

LETTERS = octets.Alphabet(b"abc")
SOME = st.binary(max_size=40)


@given(SOME, st.integers(0, 255), st.integers(0, 40), st.integers(0, 40))
def test_find(data: bytes, wanted: int, start: int, end: int) -> None:
    """`find` gives the first position of an octet between two positions, or -1."""
    start, end = min(start, len(data)), min(end, len(data))
    expected = next((at for at in range(start, end) if data[at] == wanted), -1)
    assert octets.find(data, wanted, start, end) == expected


@given(st.lists(st.sampled_from(b"\r\na")).map(bytes), st.integers(0, 40))
def test_empty_line(data: bytes, start: int) -> None:
    """`empty_line` gives the position where the line before an empty line ends, or -1."""
    assert octets.empty_line(data, start) == data.find(b"\r\n\r\n", start)


@given(st.lists(st.sampled_from(b"abcd")).map(bytes), st.integers(0, 9))
def test_run(data: bytes, start: int) -> None:
    """`run` gives the first position whose octet is not in the alphabet."""
    start = min(start, len(data))
    ends = (at for at in range(start, len(data)) if data[at] not in LETTERS.members)
    assert octets.run(data, start, LETTERS) == next(ends, len(data))


@given(st.binary(max_size=8), st.sampled_from(range(256)), st.binary(max_size=30))
def test_text_end(before: bytes, code: int, after: bytes) -> None:
    """`text_end` gives the position of the first control character other than tab."""
    data = before.translate(None, bytes(range(32)) + b"\x7f") + bytes([code]) + after
    ends = (at for at, one in enumerate(data) if (one < 32 and one != 9) or one == 127)
    assert octets.text_end(data, 0) == next(ends, len(data))


@given(SOME, SOME, st.integers(0, 40), st.integers(0, 40))
def test_extended(text: bytes, data: bytes, start: int, end: int) -> None:
    """`extended` appends a part of other octets."""
    end = min(end, len(data))
    start = min(start, end)
    assert octets.extended(text, data, start, end) == text + data[start:end]


@given(st.lists(st.sampled_from(b"abcd")).map(bytes), st.integers(0, 9), st.integers(0, 9))
def test_spans_cut_and_matches(data: bytes, start: int, end: int) -> None:
    """`spans`, `cut` and `matches` consider only the octets between two positions."""
    end = min(end, len(data))
    start = min(start, end)
    part = data[start:end]
    assert octets.spans(data, start, end, LETTERS) is (b"d" not in part)
    assert octets.cut(data, start, end) == part
    assert octets.matches(data, start, end, part)
    assert not octets.matches(data, start, end, part + b"a")


@given(SOME, st.integers(0, 8), st.lists(SOME, min_size=4, max_size=4))
def test_joined(text: bytes, size: int, parts: list[bytes]) -> None:
    """`joined` concatenates the beginning of a text and four parts."""
    size = min(size, len(text))
    assert octets.joined(text, size, *parts) == text[:size] + b"".join(parts)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (b"0", 0),
        (b"007", 7),
        (b"9" * 18, 10**18 - 1),
        (b"9" * 19, -1),
        (b"", -1),
        (b"-1", -1),
        (b"+1", -1),
        (b"1 ", -1),
        (b"0x1", -1),
        (b"\xb2", -1),
    ],
)
def test_decimal(text: bytes, number: int) -> None:
    """`decimal` accepts one to eighteen digits and nothing else."""
    assert octets.decimal(text, 0, len(text)) == number
    assert octets.decimal(b"5" + text + b"5", 1, 1 + len(text)) == number


@given(SOME, st.integers(0, 2**63 - 1))
def test_numbered(prefix: bytes, number: int) -> None:
    """`numbered` gives a prefix, a dash and the number in hexadecimal."""
    assert octets.numbered(prefix, number) == b"%b-%x" % (prefix, number)


@given(SOME)
def test_front(data: bytes) -> None:
    """`front` gives a copy, which later changes of the buffer do not affect."""
    buffer = bytearray(data)
    copy = octets.front(buffer, len(data) // 2)
    buffer[:] = b"x" * len(data)
    assert copy == data[: len(data) // 2]


def test_octet() -> None:
    """`octet` gives an octet as a number."""
    assert octets.octet(b"a\xff", 1) == 255
