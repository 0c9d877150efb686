"""The lines of a TOML file on which its keys stand.

tomllib does not report lines. But a statement of a valid file is the shortest run of lines that is
valid by itself, so we parse statement by statement with tomllib, and need no grammar of our own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

Name = tuple[str, ...]


def line_numbers(text: str) -> dict[Name, int]:
    """Each table and key of a valid file, by its full name, with the first line it stands on."""
    numbers: dict[Name, int] = {}
    table: Name = ()
    for number, statement in _statements(text):
        is_header = statement.lstrip().startswith("[")
        for name in _names(tomllib.loads(statement)):
            numbers.setdefault(name if is_header else table + name, number)
            table = name if is_header else table
    return numbers


def line_of(name: Name, numbers: dict[Name, int]) -> int:
    """The line of a name, or of the nearest table around it."""
    while name and name not in numbers:
        name = name[:-1]
    return numbers.get(name, 1)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    lines = text.split("\n")
    first = 0
    for number in range(len(lines)):
        statement = "\n".join(lines[first : number + 1])
        if _is_valid(statement):
            yield first + 1, statement
            first = number + 1


def _is_valid(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _names(data: Any, above: Name = ()) -> Iterator[Name]:
    """All names in the data, outer names before inner ones; nothing within an array of tables."""
    if above:
        yield above
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _names(value, (*above, name))
