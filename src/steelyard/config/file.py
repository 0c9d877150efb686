"""The configuration file: where it is found, and the keys, values and problems in it."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from steelyard.config.keys import Form, Key, every_key
from steelyard.config.layer import Given, Layer
from steelyard.config.lines import line_numbers, line_of
from steelyard.config.unknown import unknown_key, unknown_section
from steelyard.config.words import listed, quoted

FILE = "steelyard.toml"
_SQLITE = "sqlite:"
_AT_LINE = re.compile(r"(?P<what>.*) \(at line (?P<line>\d+), column (?P<column>\d+)\)")


def find_file(named: str | None, environ: Mapping[str, str], folder: Path) -> Path | None:
    """The file that was named, by the flag or by STEELYARD_CONFIG, or the one in the folder."""
    name = named or environ.get("STEELYARD_CONFIG")
    if name:
        return Path(name)
    return folder / FILE if (folder / FILE).is_file() else None


def read_file(file: Path) -> Layer:
    """Read and parse the file; a file that cannot be read is a problem like any other."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror or error
        return Layer({}, (f"{file}: cannot be read: {reason}",), complete=False)
    except UnicodeDecodeError:
        return Layer({}, (f"{file}: expected text in UTF-8",), complete=False)
    return parse_file(text, str(file), file.parent)


def parse_file(text: str, name: str, folder: Path) -> Layer:
    """Parse the text of a file called `name` in `folder`."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Layer({}, (_syntax_problem(str(error), text, name),), complete=False)
    return _Reader(text, name, folder).layer(data)


def _syntax_problem(message: str, text: str, name: str) -> str:
    match = _AT_LINE.fullmatch(message)
    if match is None:
        line, message = text.count("\n") + 1, message.removesuffix(" (at end of document)")
        return f"{name}:{line}: not TOML: {message} at the end of the file"
    return f"{name}:{match['line']}: not TOML: {match['what']} (column {match['column']})"


class _Reader:
    """Sorts the tables of one file into known keys and problems."""

    def __init__(self, text: str, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.numbers = line_numbers(text)
        self.keys = {key.dotted: key for key in every_key()}
        self.sections = listed(key.section for key in self.keys.values())

    def layer(self, data: dict[str, Any]) -> Layer:
        found = dict(self._entries(data))
        if "application.command" in found:
            # A command in the file is meant to run in the folder of the file, wherever
            # `steelyard` is started.
            found.setdefault("application.directory", ".")
        given = {dotted: self._given(dotted, value) for dotted, value in found.items()}
        return Layer(given, tuple(self._problems(data)))

    def _entries(self, data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        for top, value in data.items():
            if top in self.sections and isinstance(value, dict):
                names = ((f"{top}.{name}", inner) for name, inner in value.items())
                yield from (entry for entry in names if entry[0] in self.keys)
            elif top in self.keys and not isinstance(value, dict):
                yield top, value

    def _problems(self, data: dict[str, Any]) -> Iterator[str]:
        for top, value in data.items():
            if not isinstance(value, dict):
                yield from self._top_problems(top, value)
            elif top not in self.sections:
                yield unknown_section(top, self._place(top), self.sections)
            else:
                yield from (
                    unknown_key(top, name, self._place(top, name), self.keys.values())
                    for name in value
                    if f"{top}.{name}" not in self.keys
                )

    def _top_problems(self, name: str, value: Any) -> Iterator[str]:
        place = self._place(name)
        if name in self.sections:
            yield f"{name}: expected a table [{name}], got {quoted(value)} ({place})"
        elif name not in self.keys:
            yield unknown_key("", name, place, self.keys.values())

    def _place(self, *name: str) -> str:
        return f"{self.name}:{line_of(name, self.numbers)}"

    def _given(self, dotted: str, value: Any) -> Given:
        anchored = _anchored(self.keys[dotted], value, self.folder)
        if dotted == "application.command" and isinstance(value, str):
            anchored = _words(value)
        return Given(anchored, self._place(*dotted.split(".")))


def _anchored(key: Key, value: Any, folder: Path) -> Any:
    """The value with paths made relative to the folder of the file.

    So the file means the same from every working folder.
    """
    if key.form is Form.PATHS and isinstance(value, list):
        return [_anchored(key, one, folder) for one in value]
    if not isinstance(value, str):
        return value
    if key.form in {Form.PATH, Form.PATHS} and not value.startswith("~"):
        return folder / value
    if key.dotted == "store.url" and value.removeprefix(_SQLITE) not in {value, ""}:
        return f"{_SQLITE}{folder / value.removeprefix(_SQLITE)}"
    return value


def _words(command: str) -> list[str] | str:
    """The words of a command that was written as one text; the text itself if it is malformed."""
    try:
        return shlex.split(command)
    except ValueError:
        return command
