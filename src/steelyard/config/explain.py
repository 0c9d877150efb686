"""Messages for wrong values: each has the key, the place, the value, and what was expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from steelyard.config.keys import Key
from steelyard.config.layer import Given
from steelyard.config.section import BROKEN, Rule
from steelyard.config.values import SIZE
from steelyard.config.words import quoted


def explain(
    error: ValidationError, keys: Mapping[str, Key], given: Mapping[str, Given], *, rules: bool
) -> list[str]:
    """One line for each wrong value and, if `rules` is true, for each broken rule."""
    lines: list[str] = []
    for detail in error.errors():
        name = tuple(str(part) for part in detail["loc"])
        if detail["type"] != BROKEN:
            lines.append(_wrong_value(name, keys, given))
        elif rules:
            lines += _broken(name, detail["ctx"]["rules"], keys, given)
    return list(dict.fromkeys(lines))


def _wrong_value(name: tuple[str, ...], keys: Mapping[str, Key], given: Mapping[str, Given]) -> str:
    """The line for one wrong value; an item of a list is shown with the list that was typed."""
    dotted = next(dotted for dotted in (".".join(name[:2]), name[0]) if dotted in keys)
    key, found = keys[dotted], given[dotted]
    if isinstance(found.value, dict) and len(name) > 2:
        return _wrong_entry(dotted, name[2], found)
    line = f"{dotted}: expected {key.expects}, got {quoted(found.value)} ({found.place})"
    hint = _meant(key, str(found.value))
    return f"{line} → did you mean {hint}?" if hint else line


def _wrong_entry(dotted: str, name: str, found: Given) -> str:
    """The line for an entry of a table of texts that is not a text: `WORKERS = 3`."""
    value = quoted(found.value[name])
    line = f"{dotted}: expected a text for {name}, got {value} ({found.place})"
    return line if isinstance(found.value[name], dict | list) else f'{line} → write "{value}"'


def _meant(key: Key, text: str) -> str:
    """The value that was probably meant; empty if there is none."""
    if key.kind is SIZE and text.isdigit() and int(text):
        return f"{text}M"
    return next(iter(get_close_matches(text, key.choices, n=1)), "")


def _broken(
    section: tuple[str, ...],
    rules: tuple[Rule, ...],
    keys: Mapping[str, Key],
    given: Mapping[str, Given],
) -> Iterator[str]:
    for rule in rules:
        names = [".".join((*section, name)) for name in rule.keys]
        parts = (_with_place(keys[name], given.get(name)) for name in names)
        yield f"{', '.join(parts)}: expected {rule.text}"


def _with_place(key: Key, found: Given | None) -> str:
    if found is None:
        return f"{key.dotted} = {key.show(key.default)} (default)"
    return f"{key.dotted} = {_bare(found.value)} ({found.place})"


def _bare(value: Any) -> str:
    return value if isinstance(value, str) else quoted(value)
