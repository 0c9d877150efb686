"""Sinks: where the answers of units go, once each, and into the journal, if there is one."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from steelyard.mesh.answer import Answer
from steelyard.mesh.journal import Journal, Line
from steelyard.mesh.protocol.desk_events import Deliver
from steelyard.mesh.protocol.lifecycle import State

log = logging.getLogger(__name__)

Receiver = Callable[[Sequence[Answer]], None]  # it may be called with several answers at once


class Sink(NamedTuple):
    """Where the answer of a unit goes."""

    deliver: Receiver
    key: Any
    position: int = 0
    line: bytes | None = None  # its key in the journal


Lot = list[tuple[bytes, Sink]]  # packed arguments, and the sink of the answer


class Sinks:
    """The sinks of one client, by the numbers of their units."""

    def __init__(self, journal: Journal | None) -> None:
        self.delivered = 0
        self._journal = journal
        self._sinks: dict[int, Sink] = {}
        self._numbers = itertools.count(1)

    def add(self, sink: Sink) -> int:
        """Add the sink of one more unit; return the unit's number."""
        number = next(self._numbers)
        self._sinks[number] = sink
        return number

    def numbers(self, receiver: Receiver | None = None) -> list[int]:
        """The numbers of all units that have not ended, or of those whose answers go to this
        receiver.
        """
        sinks = self._sinks.copy()  # other threads deliver meanwhile
        return [n for n, sink in sinks.items() if receiver is None or sink.deliver == receiver]

    def resume(self, function: str, lot: Lot) -> tuple[Lot, list[tuple[Sink, Answer]]]:
        """Split units into those left to do and those that the journal has, with their answers."""
        if self._journal is None:
            return lot, []
        key = self._journal.key
        known = [(key(function, arguments), arguments, sink) for arguments, sink in lot]
        lines = self._journal.find(key for key, _, _ in known)
        left = [(a, sink._replace(line=key)) for key, a, sink in known if key not in lines]
        return left, [(sink, _again(sink, lines[key])) for key, _, sink in known if key in lines]

    def deliver(self, told: Iterable[Deliver]) -> None:
        """Give the answers of units that have ended to their receivers."""
        answers = []
        for one in told:
            sink = self._sinks.pop(one.number)
            answers.append((sink, Answer.of(sink.key, one, sink.position)))
        self._write(answers)
        self.delivered += len(answers)
        for receiver, group in itertools.groupby(answers, key=lambda one: one[0].deliver):
            try:
                receiver([answer for _, answer in group])
            except BaseException:  # other receivers wait for their answers
                log.exception("a receiver of answers failed")

    def _write(self, answers: Iterable[tuple[Sink, Answer]]) -> None:
        lines = [
            Line(sink.line, answer.packed, answer.output, answer.seconds)
            for sink, answer in answers
            if sink.line is not None and answer.ok
        ]
        try:
            if self._journal is not None and lines:
                self._journal.add(lines)
        except Exception as error:  # the answers are worth more than the journal
            log.error("%s", error)

    def close(self) -> None:
        """Close the journal."""
        if self._journal is not None:
            self._journal.close()


def _again(sink: Sink, line: Line) -> Answer:
    """The answer of a unit that the journal has."""
    return Answer(
        sink.key, State.DONE, line.value, line.output, line.seconds, position=sink.position
    )
