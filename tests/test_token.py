"""The token file."""

from __future__ import annotations

import stat

import pytest

from steelyard.errors import UsageError
from steelyard.token import ensure_token, read_token


def test_a_token_is_made_once_and_only_its_owner_can_read_it(tmp_path):
    """Mode 0600, and the same token from then on."""
    path = tmp_path / "state" / "token"
    token = ensure_token(path)
    assert len(token) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ensure_token(path) == token == read_token(path)


def test_a_missing_token_says_where_it_comes_from(tmp_path):
    """The agent writes it."""
    with pytest.raises(UsageError, match="the agent writes it on its first start"):
        read_token(tmp_path / "token")


def test_an_empty_token_is_not_a_token(tmp_path):
    """A file cut short must not open the door to everybody."""
    (tmp_path / "token").write_text("\n")
    with pytest.raises(UsageError, match="is empty"):
        ensure_token(tmp_path / "token")
