"""JSON lines of `steelyard mesh run`: units that are read, and results that are written."""

from __future__ import annotations

import json
import math
import sys
from base64 import b64encode
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.cli.mesh_common import load
from steelyard.errors import SteelyardError, UsageError

if TYPE_CHECKING:
    from steelyard.mesh import Answer


def read_calls(units: Path, spread: bool) -> Iterator[list[Any]]:
    """Yield the arguments of each unit; raise UsageError for values that cannot be sent."""
    try:
        data = sys.stdin.buffer.read() if str(units) == "-" else units.read_bytes()
    except OSError as error:
        raise UsageError(f"{units}: {error.strerror}", hint="name a file of JSON lines") from None
    # Split only at \n: strings in JSON may hold other line ends, such as U+2028.
    for number, line in enumerate(data.removeprefix(BOM_UTF8).split(b"\n"), 1):
        if line.strip():
            yield _call(f"{units}, line {number}", line, spread)


def _call(where: str, line: bytes, spread: bool) -> list[Any]:
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise UsageError(f"{where} is not UTF-8: {error.reason}", hint="convert it") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: {error}", hint="write one JSON value per line") from None
    if spread and not isinstance(value, list):
        raise UsageError(f"{where} is not a list", hint="leave --spread out")
    call = value if spread else [value]
    _check(where, call)
    return call


def _check(where: str, call: list[Any]) -> None:
    """Raise UsageError with the line's number, which the client's error would lack."""
    wire = load("execution.wire")
    try:
        wire.pack_call(*call)
    except wire.WireError as error:
        raise UsageError(f"{where} {error.message}", hint=error.hint) from None


def row_of(answer: Answer) -> dict[str, Any]:
    """The result of a unit as a row; `ok` tells whether it has a value."""
    row: dict[str, Any] = {"unit": answer.key, "ok": answer.ok, "seconds": answer.seconds}
    try:
        row["value"] = answer.value
    except SteelyardError as error:  # the unit failed, or its value cannot be read here
        row |= {"ok": False, "state": answer.state, "error": str(error)}
        failure = answer.error.failure if answer.error is not None else None
        if failure is not None and failure.traceback:
            row["traceback"] = failure.traceback
    if answer.output:
        row["output"] = answer.output
    return row


def line_of(row: dict[str, Any]) -> bytes:
    """A row as a line of the output file, whatever value the unit returned."""
    try:
        text = json.dumps(row, default=_plain, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):  # seldom, and slow: keys that are not text, NaN
        text = json.dumps(_value(row), ensure_ascii=False)
    return text.encode() + b"\n"


def _value(value: Any) -> Any:
    """Convert a value to one that consists only of JSON's types."""
    if isinstance(value, dict):
        return {_key(key): _value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_value(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value).replace("nan", "NaN").replace("inf", "Infinity")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return _value(_plain(value))


def _key(key: Any) -> str:
    plain = _value(key)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _plain(value: Any) -> Any:
    """Convert a value of a type that JSON does not know."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)
