"""Tests of the memory that a head keeps."""

from __future__ import annotations

import pytest

from steelyard.balancer.http.grammar import END, Reader
from steelyard.balancer.http.heads import AnswerHead, RequestHead

REQUEST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 100000"


def read(text: bytes, behind: int) -> RequestHead | AnswerHead:
    """A head that was received together with `behind` bytes of its body."""
    reader, data = Reader(1000, 10), text + END + b"x" * behind
    head = reader.request(data, 0) if text is REQUEST else reader.answer(data, 0)
    assert head is not None
    return head


@pytest.mark.parametrize("text", [REQUEST, ANSWER])
@pytest.mark.parametrize("behind", [0, 1000, 100_000])
def test_a_body_is_not_kept_with_its_head(text: bytes, behind: int) -> None:
    """A head keeps little more memory than its text, however much of the body came with it."""
    head = read(text, behind)
    assert head.text == text
    assert len(head.data) < len(text) + 5000
