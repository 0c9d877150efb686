"""Tests of field names, and of the values that frame a message."""

from __future__ import annotations

import pytest

from steelyard.balancer.http import fields, names
from steelyard.balancer.http.fields import BadMessageError, classify, connection_options


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (b"CONTENT-LENGTH", names.LENGTH),
        (b"TRANSFER-encoding", names.CODING),
        (b"HOST", names.HOST),
        (b"X-FORWARDED-FOR", names.FORWARDED_FOR),
        (b"Te", names.HOP),
        (b"X-Anything", names.PLAIN),
        (b"x_custom", names.PLAIN),
    ],
)
def test_names_in_any_spelling(name: bytes, kind: int) -> None:
    """The kind of a field does not depend on the case of its name."""
    assert classify(name) == kind


@pytest.mark.parametrize("name", [b"", b"a b", b"a\x00", b"a(", b"\xff", b"transfer_encoding"])
def test_bad_names(name: bytes) -> None:
    """A name that is no token, or that servers confuse with a framing field, is refused."""
    lines = fields.Lines()
    lines.begin(b"\r\n" + name + b": a\r\n", 0, 5 + len(name), 9)
    with pytest.raises(BadMessageError):
        lines.next()


def test_usual_spellings_agree_with_classify() -> None:
    """The table of usual spellings agrees with `classify`."""
    assert all(classify(name) == kind for name, kind in names.KINDS.items())


def test_connection_options() -> None:
    """Connection options are given in lower case, without empty ones."""
    assert connection_options(b" Close, ,X-A ", None) == [b"close", b"x-a"]
