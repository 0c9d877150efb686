"""The register of marks, a second source that must never mislead."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from steelyard.runtime.marks import Mark
from steelyard.runtime.procfs import Process
from steelyard.runtime.register import Register

MARK = Mark("/home", "app", "one", 21000)
PROCESS = Process(123, 456)


@pytest.fixture
def register(tmp_path: Path) -> Register:
    return Register(tmp_path / "workers")


def test_entry_is_read_as_it_was_written(register: Register) -> None:
    """A worker is in the register from its entry until it is struck out."""
    register.enter(MARK, PROCESS)
    assert register.entries() == {PROCESS: MARK}
    register.strike("one")
    register.strike("one")
    assert register.entries() == {}


def test_entry_of_an_earlier_boot_does_not_count(register: Register, tmp_path: Path) -> None:
    """After a reboot, the same pid and start may belong to another process."""
    register.enter(MARK, PROCESS)
    path = tmp_path / "workers" / "one.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"boot": "another"}))
    assert register.entries() == {}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"boot": 1, "mark": 2}', "\udcff"])
def test_broken_entry_does_not_count(register: Register, tmp_path: Path, text: str) -> None:
    """A malformed file is ignored."""
    register.enter(MARK, PROCESS)
    broken = tmp_path / "workers" / "broken.json"
    broken.write_bytes(text.encode(errors="surrogateescape"))
    assert register.entries() == {PROCESS: MARK}


def test_no_room_for_an_entry(tmp_path: Path) -> None:
    """If the register cannot be written, it stays empty, and nothing fails."""
    (tmp_path / "workers").touch()
    register = Register(tmp_path / "workers")
    register.enter(MARK, PROCESS)
    assert register.entries() == {}


def test_ended_workers_are_pruned(register: Register) -> None:
    """Only entries of running workers stay."""
    register.enter(MARK, PROCESS)
    register.enter(Mark("/home", "app", "two", 21001), Process(124, 457))
    register.prune({"two"})
    assert [mark.name for mark in register.entries().values()] == ["two"]


def test_entry_under_another_name_does_not_count(register: Register, tmp_path: Path) -> None:
    """An entry counts only for the worker that its file is named after."""
    register.enter(MARK, PROCESS)
    (tmp_path / "workers" / "one.json").rename(tmp_path / "workers" / "two.json")
    assert register.entries() == {}


@pytest.mark.needs("root")
def test_entry_of_another_user_does_not_count(register: Register, tmp_path: Path) -> None:
    """A file that another user wrote names no worker of ours."""
    register.enter(MARK, PROCESS)
    os.chown(tmp_path / "workers" / "one.json", 65534, 65534)
    assert register.entries() == {}
