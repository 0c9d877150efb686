"""The token file."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from steelyard.errors import UsageError
from steelyard.token import ensure_token, read_token
from tests.stranger import NOBODY


def test_a_token_is_made_once_and_only_its_owner_can_read_it(tmp_path):
    """The file has mode 0600, and keeps the same token."""
    path = tmp_path / "state" / "token"
    token = ensure_token(path)
    assert len(token) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ensure_token(path) == token == read_token(path)


def test_a_missing_token_says_where_it_comes_from(tmp_path):
    """The hint says that the agent writes the token."""
    with pytest.raises(UsageError, match="the agent writes it on its first start"):
        read_token(tmp_path / "token")


def test_an_empty_token_is_not_a_token(tmp_path):
    """An empty file must not open the API to everybody."""
    (tmp_path / "token").write_text("\n")
    with pytest.raises(UsageError, match="is empty"):
        ensure_token(tmp_path / "token")


def test_a_folder_that_cannot_be_is_told(tmp_path):
    """A file in the folder's place is reported, as a full disk or a missing right would be."""
    (tmp_path / "state").write_text("")
    with pytest.raises(UsageError, match="no token can be kept at"):
        ensure_token(tmp_path / "state" / "token")
    with pytest.raises(UsageError, match="no token at"):
        read_token(tmp_path / "state" / "token")


def test_a_token_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    """Half a token would be refused for ever after."""

    def full(length: int) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("secrets.token_urlsafe", full)
    with pytest.raises(UsageError, match="No space left"):
        ensure_token(tmp_path / "token")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"two\nlines\n", b"\xff\xfe", "schlüssel".encode()])
def test_what_cannot_be_sent_is_no_token(tmp_path, content):
    """Such a text would not fit into a header."""
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(UsageError, match="token"):
        read_token(tmp_path / "token")


@pytest.mark.needs("root")
@pytest.mark.parametrize("link", [False, True])
def test_a_token_that_another_user_planted_is_refused(tmp_path, link):
    """A file or a link that another user made before the agent started is not accepted."""
    path, known = tmp_path / "token", tmp_path / "known"
    known.write_text("everybody-knows-this")
    if link:
        path.symlink_to(known)
    else:
        path.write_text("planted")
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(UsageError, match="another user"):
        ensure_token(path)


def test_a_token_that_others_can_write_is_refused(tmp_path):
    """A token that other users can write is refused by its mode."""
    path = tmp_path / "token"
    path.write_text("s3cret")
    path.chmod(0o666)
    with pytest.raises(UsageError, match="could write it"):
        ensure_token(path)
