"""The seal on marks: only marks of our own agent fit."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.core.usage import Allowance
from steelyard.errors import UsageError
from steelyard.runtime.marks import Mark, read_mark
from steelyard.runtime.seal import Seal, open_seal

MARK = Mark("/home", "app", "one", 21000, Allowance(0.5, 1024), (Path("/a"),))


def test_a_signed_mark_fits_after_its_way_through_an_environment() -> None:
    """The next agent recognises the mark that this agent wrote."""
    read = read_mark(Seal(b"key").sign(MARK).variables())
    assert read is not None
    assert Seal(b"key").fits(read)


@pytest.mark.parametrize(
    "change",
    [
        {"home": "/other"},
        {"application": "other"},
        {"name": "two"},
        {"port": 21001},
        {"allowance": Allowance(1.0, 1024)},
        {"groups": (Path("/b"),)},
        {"seal": ""},
        {"seal": "é"},
    ],
)
def test_a_changed_mark_does_not_fit(change: dict[str, object]) -> None:
    """The seal covers every part of the mark."""
    seal = Seal(b"key")
    assert not seal.fits(replace(seal.sign(MARK), **change))  # type: ignore[arg-type]


def test_the_seal_of_another_folder_does_not_fit(tmp_path: Path) -> None:
    """Each state folder has a secret of its own, which stays."""
    one, other = open_seal(tmp_path / "one"), open_seal(tmp_path / "other")
    assert not one.fits(other.sign(MARK))
    assert open_seal(tmp_path / "one").fits(one.sign(MARK))


def test_the_secret_is_closed_to_other_users(tmp_path: Path) -> None:
    """Only the owner of the state folder can read or replace the secret."""
    folder = tmp_path / "state"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    open_seal(folder)
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "mark.key").stat().st_mode & 0o077 == 0


def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """A secret that other users could read proves nothing."""
    open_seal(tmp_path)
    (tmp_path / "mark.key").chmod(0o644)
    with pytest.raises(UsageError, match="by other users"):
        open_seal(tmp_path)


def test_a_secret_behind_a_link_is_refused(tmp_path: Path) -> None:
    """A link may lead to a file that somebody else writes."""
    (tmp_path / "elsewhere").write_text("known")
    (tmp_path / "mark.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="no secret"):
        open_seal(tmp_path)


@pytest.mark.needs("root")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    """The owner of the state folder could forge everything in it."""
    folder = tmp_path / "state"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    with pytest.raises(UsageError, match="another user"):
        open_seal(folder)


def test_a_parent_folder_that_others_can_write_is_refused(tmp_path: Path) -> None:
    """Another user could move the state folder away and put one of their own in its place."""
    tmp_path.chmod(0o777)
    with pytest.raises(UsageError, match="replace the state folder"):
        open_seal(tmp_path / "state")
    tmp_path.chmod(0o1777)  # as /tmp: only the owner may rename an entry
    open_seal(tmp_path / "state")
