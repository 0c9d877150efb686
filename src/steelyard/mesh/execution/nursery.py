"""The process that forks children: small, and with a single thread.

A node has threads (those of the transport), and a fork of such a process may inherit a lock that
nobody will ever release. So the node starts this process afresh, and this one forks: in a few
milliseconds, with everything imported. The nursery kills its children when the node is gone, and
the kernel kills them when the nursery is gone.

    pool → nursery   fork <number> with (socket, output) · kill <number>
    nursery → pool   up · ended <number> <status>

`status` is that of waitpid; −1 means that the fork failed.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import select
import selectors
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from steelyard import python
from steelyard.mesh.execution import child
from steelyard.mesh.execution.slots import Slots
from steelyard.parent import end_with

_SET_NAME = 15  # linux/prctl.h
_KILLED_FIRST = 500  # of 1000: if memory is short, the kernel kills a unit before the node


class Nursery:
    """Forks, kills and reaps children."""

    def __init__(self, control: socket.socket, slots: Slots) -> None:
        self._control, self._slots = control, slots
        self._selector = selectors.DefaultSelector()
        self._pids: dict[int, int] = {}  # keyed by the child's number
        self._pid = os.getpid()

    def run(self) -> None:
        """Serve until the pool is gone."""
        self._selector.register(self._control, selectors.EVENT_READ)
        self._tell("up")
        try:
            while True:
                for key, _ in self._selector.select():
                    if key.data is not None:
                        self._bury(key.data, key.fd)
                    elif not self._obey():
                        return
        finally:
            for number in self._pids:
                self._kill(number)

    def _obey(self) -> bool:
        try:
            message, fds, _, _ = socket.recv_fds(self._control, 256, 2)
        except ConnectionError:  # the pool was killed before it read all our messages
            return False
        if not message:
            return False
        verb, number = message.decode().split()
        if verb == "fork":
            self._fork(int(number), *fds)
        else:
            self._kill(int(number))
        return True

    def _fork(self, number: int, link: int, output: int) -> None:
        try:
            pid = os.fork()
        except OSError:
            self._tell(f"ended {number} -1")
        else:
            if not pid:
                try:
                    self._become(number, link, output)
                finally:  # a child that returned from here would kill its siblings
                    os._exit(1)
            self._pids[number] = pid
            self._selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (number, pid))
        os.close(link)
        os.close(output)

    def _become(self, number: int, link: int, output: int) -> None:
        """Become the child: close everything that belongs to the nursery, and run units."""
        os.setsid()  # a group of its own, so that the processes it starts are killed with it
        end_with(self._pid)
        ctypes.CDLL(None).prctl(_SET_NAME, b"steelyard-unit")
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(str(_KILLED_FIRST))
        for key in list(self._selector.get_map().values()):
            if key.fd != self._control.fileno():
                os.close(key.fd)
        self._selector.close()
        self._control.close()
        child.main(number, socket.socket(fileno=link), output, self._slots)

    def _kill(self, number: int) -> None:
        if number in self._pids:
            end(self._pids[number])

    def _bury(self, who: tuple[int, int], fd: int) -> None:
        number, pid = who
        end(pid)  # its whole group; until waitpid nobody else can have that number
        _, status = os.waitpid(pid, 0)
        self._selector.unregister(fd)
        os.close(fd)
        del self._pids[number]
        self._tell(f"ended {number} {status}")

    def _tell(self, text: str) -> None:
        with suppress(ConnectionError):
            self._control.send(text.encode())


def end(pid: int) -> None:
    """Kill a child and its group; a child that was just forked has no group yet."""
    for kill in (os.kill, os.killpg):
        with suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)


@contextmanager
def watched(control: socket.socket) -> Iterator[None]:
    """Inside the block, exit as soon as the pool is gone: an import may take for ever."""
    out, into = os.pipe()

    def watch() -> None:
        poll = select.poll()
        poll.register(control, 0)  # reports nothing but its end
        poll.register(out, select.POLLIN)
        if control.fileno() in dict(poll.poll()):
            os._exit(0)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        os.write(into, b"x")
        thread.join()  # a process that forks must have no other thread
        os.close(out)
        os.close(into)


def preload(names: list[str]) -> None:
    """Import modules for the children; if that fails, a child reports the error later."""
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException:
            traceback.print_exc(file=sys.stderr)


def main() -> None:
    """`python -m steelyard.mesh.execution.nursery CONTROL SLOTS JSON`."""
    control = socket.socket(fileno=int(sys.argv[1]))
    slots, told = int(sys.argv[2]), json.loads(sys.argv[3])
    python.import_late_ones()
    sys.path[:] = told["path"]  # from here on units may import from the user's folder
    with watched(control):
        preload(told["preload"])
    if threading.active_count() > 1:  # libraries in C (OpenBLAS) handle forks by themselves
        sys.exit("a preloaded module started threads: each child will import it itself")
    gc.freeze()  # otherwise the first collection would copy all pages shared with children
    Nursery(control, Slots(slots)).run()


if __name__ == "__main__":
    main()
