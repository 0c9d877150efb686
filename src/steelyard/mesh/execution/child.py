"""A child process: runs one unit after the other, and answers each when it is done.

It reads an order only when the last one is answered. What it has not read, the pool can take back.
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

LONGEST = 65_536  # characters of what an exception says, and of its traceback


class Result(NamedTuple):
    """What became of a unit."""

    kind: Kind
    value: list[Piece]
    seconds: float


class Child:
    """The loop of one child."""

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
            if os.getpid() != self._pid:  # the unit forked, and this is what it forked
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
        except BaseException as error:  # what a unit raises is its own, SystemExit, too
            kind, value = Kind.RAISED, [describe(error, words(error))]
        return Result(kind, value, time.monotonic() - began)


def call(function: Callable[..., Any], order: Order) -> list[Piece]:
    """Call it, and pack what it returns."""
    guard: AbstractContextManager[None] = nullcontext()
    if order.memory is not None:
        guard = allowance(order.memory)
    with guard:
        args, kwargs = arguments_of(order)
        return wire.pack_parts(function(*args, **kwargs))


def arguments_of(order: Order) -> tuple[list[Any], dict[str, Any]]:
    """What was sent; some of it may be of no use here, such as arrays where there is no numpy."""
    try:
        return wire.unpack_call(order.arguments)
    except wire.WireError as error:
        raise TypeError(f"the arguments of {order.function}: {error.message}") from None


def words(error: BaseException) -> str:
    """What it says; an exception of the application's may fail even in that."""
    try:
        return str(error)
    except BaseException as trouble:
        return f"it cannot be shown: {type(trouble).__qualname__}"


def describe(error: BaseException, message: str) -> bytes:
    """An exception for whoever wanted the value; of the traceback what is the unit's own."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_globals.get("__name__") == __name__:
        frames = frames.tb_next
    try:
        lines = "".join(traceback.format_exception(type(error), error, frames))
    except BaseException as trouble:  # it looks at what is the application's
        lines = f"its traceback cannot be shown: {type(trouble).__qualname__}"
    return wire.pack_failure(Failure(type(error).__qualname__, sendable(message), sendable(lines)))


def sendable(text: str) -> str:
    """Not all of a huge one; and names of files may have in them what is no character."""
    cut = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
    return cut.encode(errors="backslashreplace").decode()


def main(number: int, link: socket.socket, output: int, slots: Slots) -> None:
    """What a freshly forked process does, and nothing after it."""
    status = 1
    try:
        Child(number, link, output, slots).serve()
        status = 0
    except ConnectionError:  # the pool is gone
        status = 0
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    finally:  # even if the unit has closed all files: who came back would be a second nursery
        os._exit(status)
