"""The children of a pool and the process that forks them, as the pool sees them."""

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

# seconds between two attempts, and their number; a longer shortage does not pass by itself
PAUSE, TRIES = 0.005, 400


class Line(NamedTuple):
    """The connection of a pool with one child process."""

    ours: socket.socket
    theirs: socket.socket  # kept open, to take back orders that the child has not read
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
    """A message of the nursery; if a child ended, which one, and how."""

    ended: int | None
    status: int


class Brood:
    """One nursery and its children; if the nursery dies, another brood replaces this one."""

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
        """Send a message to the nursery.

        A dead nursery is noticed elsewhere, by its closed socket.
        """
        for _ in range(TRIES):
            try:
                socket.send_fds(self.control, [words.encode()], list(fds))
            except ConnectionError:
                return
            except OSError as error:
                if error.errno not in (errno.EAGAIN, *SHORTAGES):
                    raise
                time.sleep(PAUSE)  # too many descriptors or messages are in flight
            else:
                return
        self.end()  # the lost message would be missing for ever, so another nursery starts over

    def renew(self, number: int) -> None:
        """Start a new child in the place of one that ended."""
        self.slots.write(number, 0, Phase.IDLE)  # the new child has not begun the old one's unit
        line = self._fork(number)
        self.lines[number].close()
        self.lines[number] = line

    def kill(self, number: int) -> None:
        """Have a child killed; the nursery reports its end."""
        self._say(f"kill {number}")

    def news(self) -> News | None:
        """The next message of the nursery; None if the nursery is gone."""
        try:
            text = self.control.recv(256).decode()
        except ConnectionError:
            return None
        if not text:
            return None
        verb, *rest = text.split()
        return News(int(rest[0]), int(rest[1])) if verb == "ended" else News(None, 0)

    def slot(self, number: int) -> Slot:
        """The unit that a child runs."""
        return self.slots.read(number)

    def unread(self, number: int) -> list[int]:
        """Take back the orders that a child has not read; return their tickets."""
        tickets = []
        theirs = self.lines[number].theirs
        while (got := self._try(theirs, NOW)) is not None:
            tickets.append(ticket_of(got))
            if got.fd is not None:
                os.close(got.fd)
        return tickets

    def answers(self, number: int) -> Iterator[Parcel]:
        """Yield the answers of a child that nobody has read."""
        while (got := self._try(self.lines[number].ours)) is not None:
            yield got

    def _try(self, link: socket.socket, flags: int = 0) -> Parcel | None:
        try:
            return self._receiver.receive(link, flags)
        except (BlockingIOError, ConnectionError):
            return None

    def end(self) -> None:
        """Kill a nursery that does not start, or takes no messages."""
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
        start_new_session=True,  # Ctrl-C is handled by the node
    )
