"""Text that workers print does not control the operator's terminal."""

from __future__ import annotations

import os
import pty
import sys

import pytest

from steelyard.cli.harmless import for_terminal, harmless


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nmore", "plain\ttext\nmore"),
        ("\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x1b]52;c;aGk=\x1b\\", r"\x1b]52;c;aGk=\x1b" + "\\"),  # the clipboard
        ("\x1b[2J\x1b[H", r"\x1b[2J\x1b[H"),
        ("seen\rover", r"seen\x0dover"),
        ("\x9b2J", r"\x9b2J"),  # CSI in one character
        ("ünïcödé ✓", "ünïcödé ✓"),
    ],
)
def test_a_terminal_is_told_nothing_but_colours(text: str, shown: str) -> None:
    """Titles, the clipboard and cursor movements are shown as text instead of obeyed."""
    assert harmless(text) == shown


def test_only_a_terminal_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file gets every byte as it was printed."""
    ours, theirs = pty.openpty()
    try:
        with os.fdopen(theirs, "w") as terminal, open(os.devnull, "w") as file:
            monkeypatch.setattr(sys, "stdout", terminal)
            assert for_terminal("\x1bc") == r"\x1bc"
            monkeypatch.setattr(sys, "stdout", file)
            assert for_terminal("\x1bc") == "\x1bc"
    finally:
        os.close(ours)
