"""Results as a document: a section per bench, so that each can be written anew by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

TITLE = "# Benchmarks\n\nWritten by `steelyard bench`; see `bench/README.md`.\n"


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column is words, the others figures; the last, remarks, words again."""
    rules = ["---", *["---:"] * (len(columns) - 2), "---"]
    return "\n".join(_line(cells) for cells in (columns, rules, *rows))


def write_section(file: Path, name: str, content: str) -> None:
    """Put a section into the file, in place of the one it had."""
    before = file.read_text(encoding="utf-8") if file.exists() else TITLE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(with_section(before, name, content), encoding="utf-8")


def with_section(text: str, name: str, content: str) -> str:
    """The text with the section exchanged, or added at its end."""
    begin, end = f"<!-- bench: {name} -->", f"<!-- end: {name} -->"
    section = f"{begin}\n{content.strip()}\n{end}"
    before, found, rest = text.partition(begin)
    if not found:
        return f"{text.rstrip()}\n\n{section}\n"
    return f"{before}{section}{rest.partition(end)[2]}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
