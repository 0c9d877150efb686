"""Splitting blocks of text into lines; the tails of logs are tested with the files."""

from __future__ import annotations

from steelyard.runtime.log_text import LONGEST, Splitter


def test_lines_that_go_over_blocks_come_out_whole() -> None:
    """Wherever the text is cut, the lines are the same."""
    text = b"first\n\nthird\rwith a return\nlast, without an end"
    for cut in range(len(text)):
        splitter = Splitter()
        lines = [*splitter.feed(text[:cut]), *splitter.feed(text[cut:]), *splitter.end()]
        assert lines == ["first", "", "third\rwith a return", "last, without an end"]
        assert splitter.end() == []


def test_a_text_without_newlines_comes_in_pieces() -> None:
    """Only one piece is kept in memory, however long the line is."""
    splitter = Splitter()
    pieces = [piece for _ in range(100) for piece in splitter.feed(b"x" * 5000)]
    assert {len(piece) for piece in pieces} == {LONGEST}
    assert sum(map(len, [*pieces, *splitter.end()])) == 500_000
