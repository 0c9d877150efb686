"""Numbers in a query string, within limits: a typo must not bring the machine down."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl


class BadQueryError(Exception):
    """The query asks for something impossible; the text is for the client."""


class Query:
    """The query string of one request. If a name is given twice, the last value counts."""

    def __init__(self, text: bytes) -> None:
        pairs = parse_qsl(text.decode("latin-1"), keep_blank_values=True)
        self._values: Mapping[str, str] = dict(pairs)

    def number(self, name: str, default: int, lowest: int, highest: int) -> int:
        text = self._values.get(name, str(default))
        if text.isascii() and text.isdigit() and len(text) < 20 and lowest <= int(text) <= highest:
            return int(text)
        raise BadQueryError(
            f"{name}: expected a whole number {lowest}…{highest}, got {text[:40]!r}"
        )

    def flag(self, name: str) -> bool:
        return self.number(name, 0, 0, 1) == 1
