"""The children of a pool and the process that forks them, as the pool holds them."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from steelyard import python
from steelyard.mesh.execution import capture
from steelyard.mesh.execution.orders import ticket_of
from steelyard.mesh.execution.parcel import NOW, SHORTAGES, Parcel, Receiver
from steelyard.mesh.execution.slots import Phase, Slot, Slots

PAUSE, TRIES = 0.005, 400  # seconds, and times: what is short for longer does not pass by itself


class Line(NamedTuple):
    """What connects a pool with one life of a child."""

    ours: socket.socket
    theirs: socket.socket  # kept, to take back what the child has not read
    output: int

    @classmethod
    def open(cls) -> Line:
        with ExitStack() as made:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            made.enter_context(ours)
            made.enter_context(theirs)
            ours.setblocking(False)
            line = cls(ours, theirs, capture.create())
            made.pop_all()
        return line

    def close(self) -> None:
        self.ours.close()
        self.theirs.close()
        os.close(self.output)


class News(NamedTuple):
    """What the nursery tells; of a child's end, which and how."""

    ended: int | None
    status: int


class Brood:
    """One nursery and its children; when the nursery dies, the next brood begins."""

    def __init__(self, count: int, preload: Sequence[str], path: Sequence[str] = ()) -> None:
        self._receiver = Receiver()
        self.lines: list[Line] = []
        with ExitStack() as made, ExitStack() as passed:
            self.slots, fd = Slots.create(count)
            made.callback(self.slots.close)
            passed.callback(os.close, fd)
            self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            made.enter_context(self.control)
            passed.enter_context(theirs)
            self._process = _nursery(theirs.fileno(), fd, preload, path)
            made.pop_all()
        try:
            self.lines += (self._fork(number) for number in range(count))
        except OSError:
            self.close()
            raise
        self.control.setblocking(False)

    def _fork(self, number: int) -> Line:
        line = Line.open()
        self._say(f"fork {number}", [line.theirs.fileno(), line.output])
        return line

    def _say(self, words: str, fds: Sequence[int] = ()) -> None:
        """Tell the nursery; a dead one is noticed by its silence."""
        for _ in range(TRIES):
            try:
                socket.send_fds(self.control, [words.encode()], list(fds))
            except ConnectionError:
                return
            except OSError as error:
                if error.errno not in (errno.EAGAIN, *SHORTAGES):
                    raise
                time.sleep(PAUSE)  # too many files are under way, or too many words
            else:
                return
        self.end()  # what it was not told would be missing for ever; another one begins anew

    def renew(self, number: int) -> None:
        """A new child in the place of one that ended."""
        self.slots.write(number, 0, Phase.IDLE)  # what the last one was at this one has not begun
        line = self._fork(number)
        self.lines[number].close()
        self.lines[number] = line

    def kill(self, number: int) -> None:
        """Have a child killed; its end is told when it is over."""
        self._say(f"kill {number}")

    def news(self) -> News | None:
        """The next word of the nursery; None when it is gone."""
        try:
            text = self.control.recv(256).decode()
        except ConnectionError:
            return None
        if not text:
            return None
        verb, *rest = text.split()
        return News(int(rest[0]), int(rest[1])) if verb == "ended" else News(None, 0)

    def slot(self, number: int) -> Slot:
        """What a child is at."""
        return self.slots.read(number)

    def unread(self, number: int) -> list[int]:
        """Take back the orders that a child has not read: their tickets."""
        tickets = []
        theirs = self.lines[number].theirs
        while (got := self._try(theirs, NOW)) is not None:
            tickets.append(ticket_of(got))
            if got.fd is not None:
                os.close(got.fd)
        return tickets

    def answers(self, number: int) -> Iterator[Parcel]:
        """What a child has answered and nobody has read."""
        while (got := self._try(self.lines[number].ours)) is not None:
            yield got

    def _try(self, link: socket.socket, flags: int = 0) -> Parcel | None:
        try:
            return self._receiver.receive(link, flags)
        except (BlockingIOError, ConnectionError):
            return None

    def end(self) -> None:
        """Kill a nursery that does not even start, or cannot be told anything."""
        self._process.kill()

    def close(self) -> None:
        """End the nursery, and with it the children."""
        self.control.close()
        try:
            self._process.wait(5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for line in self.lines:
            line.close()
        self.slots.close()


def _nursery(
    control: int, slots: int, preload: Sequence[str], path: Sequence[str]
) -> subprocess.Popen[bytes]:
    told = {"path": [*path, *sys.path], "preload": list(preload)}
    return subprocess.Popen(
        python.module(
            "steelyard.mesh.execution.nursery", str(control), str(slots), json.dumps(told)
        ),
        stdin=subprocess.DEVNULL,
        pass_fds=[control, slots],
        start_new_session=True,  # Ctrl-C is the node's to handle
    )
