"""Reading what nodes logged."""

from __future__ import annotations

import pytest

from steelyard.bench.jobs.diary import Stay, busy, lost, read


def test_a_stay_without_an_end_ends_with_its_node(tmp_path):
    """A stay without an end ends with its node, and a node without units has no log."""
    file = tmp_path / "node.txt"
    file.write_text("begin 0 1.0\nend 0 2.0\nbegin 1 2.0\n")
    assert read(file, until=5.0) == [Stay(0, 1.0, 2.0, True), Stay(1, 2.0, 5.0, False)]


def test_a_unit_that_was_stopped_ended_before_the_next_began(tmp_path):
    """A unit whose child was killed ended before the next one began."""
    file = tmp_path / "diary.txt"
    file.write_text("begin 7 1.0\nbegin 8 1.5\nend 8 2.0\n")
    assert read(file, until=5.0) == [Stay(7, 1.0, 1.5, False), Stay(8, 1.5, 2.0, True)]
    assert read(tmp_path / "none.txt", until=5.0) == []


def test_only_the_first_end_of_a_unit_is_of_use():
    """A copy that ended later is lost, and so is a unit that was cut off."""
    stays = {
        0: [Stay(0, 0.0, 1.0, True), Stay(1, 1.0, 4.0, True)],
        1: [Stay(1, 1.0, 2.0, True), Stay(2, 2.0, 2.5, False)],
        2: [Stay(2, 3.0, 4.0, True)],
    }
    assert busy(stays, [1.0, 2.0, 4.0]) == pytest.approx(1 + 3 + 2 + 1 + 4)
    assert lost(stays, [1.0, 2.0, 4.0]) == pytest.approx(3 + 1)
