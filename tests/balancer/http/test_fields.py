"""Field names and the values that frame a message."""

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
    """A name means the same in any case."""
    assert classify(name) == kind


@pytest.mark.parametrize("name", [b"", b"a b", b"a\x00", b"a(", b"\xff", b"transfer_encoding"])
def test_bad_names(name: bytes) -> None:
    """No token, or a name that servers confuse with one that frames: refused."""
    lines = fields.Lines()
    lines.begin(b"\r\n" + name + b": a\r\n", 0, 5 + len(name), 9)
    with pytest.raises(BadMessageError):
        lines.next()


def test_usual_spellings_agree_with_classify() -> None:
    """The quick look-up says what the careful one says."""
    assert all(classify(name) == kind for name, kind in names.KINDS.items())


def test_connection_options() -> None:
    """Options come in lower case, without the empty ones."""
    assert connection_options(b" Close, ,X-A ", None) == [b"close", b"x-a"]
