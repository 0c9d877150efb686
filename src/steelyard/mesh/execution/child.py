"""A child process: runs one unit after the other, and answers each when it is done.

It reads an order only after it has answered the last one. The pool can take back unread orders.
"""

from __future__ import annotations

import faulthandler
import os
import socket
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from steelyard.mesh.execution import capture, functions, wire
from steelyard.mesh.execution.allowance import allowance
from steelyard.mesh.execution.orders import Order, read_order, send_answer
from steelyard.mesh.execution.outcome import Failure, Kind
from steelyard.mesh.execution.parcel import Piece, Receiver
from steelyard.mesh.execution.slots import Phase, Slots

LONGEST = 65_536  # characters of an exception's message, and of its traceback


class Result(NamedTuple):
    """The result of a unit."""

    kind: Kind
    value: list[Piece]
    seconds: float


class Child:
    """The main loop of one child."""

    def __init__(self, number: int, link: socket.socket, output: int, slots: Slots) -> None:
        self._number, self._link, self._output, self._slots = number, link, output, slots
        self._functions: dict[str, Callable[..., Any]] = {}
        self._receiver = Receiver()
        self._pid = os.getpid()

    def serve(self) -> None:
        """Run units until the pool is gone."""
        capture.redirect(self._output)
        faulthandler.enable(file=2)
        while (got := self._receiver.receive(self._link)) is not None:
            order = read_order(got)
            result = self._run(order)
            if os.getpid() != self._pid:  # the unit forked, and this is the forked process
                os._exit(0)
            send_answer(
                self._link,
                order.ticket,
                result.kind,
                result.value,
                capture.drain(self._output),
                result.seconds,
            )

    def _run(self, order: Order) -> Result:
        function = self._functions.get(order.function)
        try:
            if function is None:
                self._slots.write(self._number, order.ticket, Phase.IMPORTING)
                function = self._functions[order.function] = functions.find(order.function)
        except functions.UnknownFunctionError as error:
            return Result(Kind.UNKNOWN, [describe(error, words(error))], 0.0)
        began = self._slots.write(self._number, order.ticket, Phase.RUNNING)
        try:
            kind, value = Kind.VALUE, call(function, order)
        except MemoryError as error:
            kind = Kind.RAISED if order.memory is None else Kind.EXCESS
            value = [describe(error, words(error) or f"more than {order.memory} bytes were wanted")]
        except wire.WireError as error:
            kind, value = Kind.RAISED, [describe(error, f"a value of {order.function} {error}")]
        except BaseException as error:  # whatever a unit raises counts as its own, even SystemExit
            kind, value = Kind.RAISED, [describe(error, words(error))]
        return Result(kind, value, time.monotonic() - began)


def call(function: Callable[..., Any], order: Order) -> list[Piece]:
    """Call the function, and pack its value."""
    guard: AbstractContextManager[None] = nullcontext()
    if order.memory is not None:
        guard = allowance(order.memory)
    with guard:
        args, kwargs = arguments_of(order)
        return wire.pack_parts(function(*args, **kwargs))


def arguments_of(order: Order) -> tuple[list[Any], dict[str, Any]]:
    """Unpack the arguments; that may fail here, for instance for arrays without numpy."""
    try:
        return wire.unpack_call(order.arguments)
    except wire.WireError as error:
        raise TypeError(f"the arguments of {order.function}: {error.message}") from None


def words(error: BaseException) -> str:
    """The message of an exception; those of an application may fail in `__str__`."""
    try:
        return str(error)
    except BaseException as trouble:
        return f"it cannot be shown: {type(trouble).__qualname__}"


def describe(error: BaseException, message: str) -> bytes:
    """Pack an exception for the client; its traceback shows only frames of the unit."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_globals.get("__name__") == __name__:
        frames = frames.tb_next
    try:
        lines = "".join(traceback.format_exception(type(error), error, frames))
    except BaseException as trouble:  # formatting calls code of the application
        lines = f"its traceback cannot be shown: {type(trouble).__qualname__}"
    return wire.pack_failure(Failure(type(error).__qualname__, sendable(message), sendable(lines)))


def sendable(text: str) -> str:
    """Shorten a huge text, and escape characters that UTF-8 lacks, as in names of files."""
    cut = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
    return cut.encode(errors="backslashreplace").decode()


def main(number: int, link: socket.socket, output: int, slots: Slots) -> None:
    """Run a freshly forked process to its end."""
    status = 1
    try:
        Child(number, link, output, slots).serve()
        status = 0
    except ConnectionError:  # the pool is gone
        status = 0
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    finally:  # even if printing failed: a process that returned would act as a second nursery
        os._exit(status)
