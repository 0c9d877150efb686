"""Tables and sections for documents that commands write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the first and last columns hold words, those between hold figures."""
    rules = ["---", *["---:"] * (len(columns) - 2), "---"]
    return "\n".join(_line(cells) for cells in (columns, rules, *rows))


def with_section(text: str, name: str, content: str) -> str:
    """The text with the named section replaced, or added at its end."""
    begin, end = f"<!-- {name} -->", f"<!-- end: {name.partition(': ')[2]} -->"
    section = f"{begin}\n{content.strip()}\n{end}"
    before, found, rest = text.partition(begin)
    if not found:
        return f"{text.rstrip()}\n\n{section}\n"
    return f"{before}{section}{rest.partition(end)[2]}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
