"""The stage for scenario tests: real sockets, workers that play a script, clients that speak raw.

    with stage(play) as s:                 # one worker per play, a plane in a thread
        with s.call() as client:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert client.answer().status == 200

A play is a function of a connection; it runs in a thread of its own for each one accepted.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import socket
import struct
import termios
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from math import inf

from steelyard.balancer.io.loop import IN, Handler, Loop
from steelyard.balancer.plane import Plane
from steelyard.balancer.pool.counters import Bell
from steelyard.balancer.pool.table import Directory, Place, Table
from steelyard.config.settings import Gateway
from steelyard.core.lifecycle import State
from steelyard.core.queue import Entry, Queue

PATIENCE = 120.0  # seconds; ends a test that hangs: no correct test takes that long
GET = b"GET / HTTP/1.1\r\nHost: a.org\r\n\r\n"
BAD = b"GET / HTTP/1.1\nHost: a.org\n\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds that no socket or event can signal."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.002)


def unacknowledged(sock: socket.socket) -> int:
    """Bytes that the other side's kernel has not acknowledged yet (tcp(7), SIOCOUTQ)."""
    return int(struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, b"\0" * 4))[0])


@dataclass
class Message:
    """A request or an answer as its recipient read it."""

    start: bytes
    fields: list[tuple[bytes, bytes]]
    body: bytes = b""
    trailers: list[bytes] = field(default_factory=list)

    @property
    def status(self) -> int:
        return int(self.start.split(b" ")[1])

    def all(self, name: bytes) -> list[bytes]:
        """All values of a field."""
        return [value for other, value in self.fields if other.lower() == name.lower()]

    def get(self, name: bytes) -> bytes | None:
        """The only value of a field, or None."""
        values = self.all(name)
        assert len(values) <= 1, f"{name!r} came {len(values)} times"
        return values[0] if values else None


class Wire:
    """A blocking socket with a simple reader of HTTP messages, independent of the balancer's."""

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(PATIENCE)
        self.sock = sock
        self.data = b""

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def more(self) -> bool:
        """Receive once; False at the end of the stream."""
        piece = self.sock.recv(65536)
        self.data += piece
        return bool(piece)

    def until(self, mark: bytes) -> bytes:
        """Read everything up to the mark, and the mark."""
        while mark not in self.data:
            if not self.more():
                raise EOFError(self.data[-200:])
        got, _, self.data = self.data.partition(mark)
        return got + mark

    def exactly(self, count: int) -> bytes:
        while len(self.data) < count:
            if not self.more():
                raise EOFError(self.data[-200:])
        got, self.data = self.data[:count], self.data[count:]
        return got

    def rest(self) -> bytes:
        """Read everything until the other side closes."""
        while self.more():
            pass
        got, self.data = self.data, b""
        return got

    def head(self) -> Message:
        """Read a head."""
        start, *lines = self.until(b"\r\n\r\n")[:-4].split(b"\r\n")
        return Message(start, [_field(line) for line in lines])

    def chunk(self) -> bytes:
        """Read one chunk; the last chunk is empty."""
        size = int(self.until(b"\r\n")[:-2], 16)
        if not size:
            return b""
        data = self.exactly(size)
        assert self.exactly(2) == b"\r\n"
        return data

    def body(self, message: Message) -> None:
        """Read the body that this head announces, if any."""
        if message.get(b"transfer-encoding") == b"chunked":
            while piece := self.chunk():
                message.body += piece
            while (line := self.until(b"\r\n")) != b"\r\n":
                message.trailers.append(line[:-2])
        else:
            message.body = self.exactly(int(message.get(b"content-length") or 0))

    def message(self) -> Message:
        """Read a whole message."""
        message = self.head()
        self.body(message)
        return message

    def answer(self, *, to: bytes = b"GET") -> Message:
        """Read a whole answer to a request with this method."""
        message = self.head()
        if to == b"HEAD" or message.status in (204, 304) or message.status < 200:
            return message
        lengths = message.all(b"content-length") + message.all(b"transfer-encoding")
        if lengths:
            self.body(message)
        else:
            message.body = self.rest()
        return message

    def ended(self) -> bool:
        """Wait for the other side to close or reset; True when no more bytes came."""
        try:
            return self.rest() == b""
        except ConnectionError:
            return True

    def reset(self) -> None:
        """Close with a reset."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


def _field(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.partition(b":")
    return name, value.strip()


Play = Callable[["Conn"], None]


class Conn(Wire):
    """A worker's side of one connection."""

    def __init__(self, sock: socket.socket, worker: ScriptedWorker) -> None:
        super().__init__(sock)
        self.worker = worker

    def request(self) -> Message:
        """Read the next whole request, and add it to the worker's list."""
        message = self.message()
        self.worker.seen.append(message)
        return message

    def more(self) -> bool:
        before = len(self.data)
        alive = super().more()
        self.worker.bytes += self.data[before:]
        return alive


class ScriptedWorker:
    """A listening socket and the play for each of its connections."""

    def __init__(self, play: Play, name: str = "w") -> None:
        self.play = play
        self.name = name
        self.seen: list[Message] = []
        self.bytes = b""  # all bytes received on all connections
        self.accepted = 0
        self.errors: list[BaseException] = []
        self._sock = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._sock.getsockname()[1]
        self._open: set[Conn] = set()
        self._threads: list[threading.Thread] = []
        self._accept = threading.Thread(target=self._serve, daemon=True)
        self._accept.start()

    def _serve(self) -> None:
        while True:
            try:
                sock, _ = self._sock.accept()
            except OSError:
                return
            self.accepted += 1
            thread = threading.Thread(target=self._run, args=(Conn(sock, self),), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _run(self, conn: Conn) -> None:
        self._open.add(conn)
        try:
            with conn:
                self.play(conn)
        except (EOFError, ConnectionError):
            pass  # the balancer closed an idle connection: the usual end of a play
        except BaseException as error:  # raised in the test when the stage is closed
            self.errors.append(error)
        finally:
            self._open.discard(conn)

    def refuse(self) -> None:
        """Stop listening, so that new connections are refused."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()
        self._accept.join()

    def close(self) -> None:
        self.refuse()
        for conn in list(self._open):
            with contextlib.suppress(OSError):
                conn.sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE)

    def entry(self, state: State = State.LU, weight: float = 1.0) -> Entry:
        return Entry(
            name=self.name,
            host="127.0.0.1",
            port=self.port,
            score=90,
            state=state,
            weight=weight,
        )


def always(answer: bytes = OK) -> Play:
    """A worker that gives the same answer to every request."""

    def play(conn: Conn) -> None:
        while True:
            conn.request()
            conn.send(answer)

    return play


def once(answer: bytes) -> Play:
    """A worker that answers one request per connection and closes."""

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(answer)

    return play


class Freezer(Handler):
    """A handler that blocks the loop, so that the loop finds all later events at once."""

    def __init__(self, loop: Loop) -> None:
        self.deadline = inf
        self.still = threading.Event()
        self.go_on = threading.Event()
        self._fd = os.eventfd(0)
        loop.add(self._fd, self, IN)

    def freeze(self) -> None:
        os.eventfd_write(self._fd, 1)
        assert self.still.wait(PATIENCE)

    def on_event(self, mask: int) -> None:
        os.eventfd_read(self._fd)
        self.still.set()
        assert self.go_on.wait(PATIENCE)

    def expire(self) -> None:
        raise AssertionError

    def abort(self) -> None:
        os.close(self._fd)


class Stage:
    """A plane in a thread, with its workers and its clients."""

    def __init__(
        self, limits: Gateway, workers: list[ScriptedWorker], send_buffer: int | None
    ) -> None:
        self.workers = workers
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        if send_buffer is not None:  # accepted sockets inherit the option
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        self.port: int = listener.getsockname()[1]
        bell = Bell()
        self.directory = Directory(bell, random.Random(1), limits)
        self.plane = Plane(limits, listener, bell)
        self._freezer = Freezer(self.plane.loop)
        self._version = 0
        self.thread = threading.Thread(target=self.plane.run, daemon=True)
        self.queue(*[worker.entry() for worker in workers])
        self.thread.start()

    @property
    def worker(self) -> ScriptedWorker:
        """The only worker."""
        (worker,) = self.workers
        return worker

    def queue(self, *entries: Entry, epoch: str = "e") -> None:
        """Publish a queue and, if the plane runs, wait until the plane uses it."""
        table = self.table(*entries, epoch=epoch)
        self.plane.offer(table)
        if self.thread.is_alive():
            until(lambda: self.plane.pool.table is table)

    def table(self, *entries: Entry, epoch: str = "e") -> Table:
        """The table of the next queue."""
        self._version += 1
        queue = Queue(application="a", epoch=epoch, version=self._version, workers=entries)
        places: dict[tuple[str, int], Place] = {
            (entry.host, entry.port): (socket.AF_INET, (entry.host, entry.port))
            for entry in entries
        }
        return self.directory.update(queue, places, time.monotonic())

    def call(self, receive_buffer: int | None = None) -> Wire:
        """A client's connection."""
        sock = socket.socket()
        if receive_buffer is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.settimeout(PATIENCE)
        sock.connect(("127.0.0.1", self.port))
        return Wire(sock)

    def cuts_off(self) -> bool:
        """Whether a new client is cut off; the reset may arrive before `connect` returns."""
        try:
            with self.call() as client:
                return client.ended()
        except ConnectionResetError:
            return True

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Block the loop within a `with` block; a stage can do so once."""
        self._freezer.freeze()
        yield
        self._freezer.go_on.set()

    def time_out(self, handlers: Collection[Handler]) -> None:
        """Let the time limits of these handlers, which must have one, run out now."""
        with self.frozen():
            for handler in list(handlers):
                assert handler.deadline < inf
                handler.deadline = 0.0

    def handlers(self) -> list[object]:
        """All handlers in the plane's loop."""
        return list(self.plane.loop.handlers())

    def get(self, request: bytes = GET) -> Message:
        """The answer to one request on a connection of its own."""
        with self.call() as client:
            client.send(request)
            return client.answer(to=request.split(b" ")[0])

    def go_round(self, times: int = 2) -> None:
        """Wait until the loop has handled all events that were there before.

        A malformed request is answered without a worker, and each is read in a later round.
        """
        for _ in range(times):
            assert self.get(BAD).status == 400

    def inflight(self) -> int:
        return sum(worker.tally.inflight for worker in self.directory)

    def total(self, count: str) -> int:
        """The sum of a counter over all workers."""
        return sum(getattr(worker.tally, count) for worker in self.directory)

    def close(self) -> None:
        """Stop the plane, and check that no connection and no count was leaked."""
        self.plane.stop()
        self.plane.stop()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive(), "the loop did not end"
        for worker in self.workers:
            worker.close()
        assert self.inflight() == 0, "an in-flight count leaked"
        assert not self.plane.front.clients, "a client leaked"
        assert not any(worker.idle for worker in self.directory), "an idle connection leaked"
        for worker in self.workers:
            for error in worker.errors:
                raise error


@contextlib.contextmanager
def stage(*plays: Play, send_buffer: int | None = None, **limits: object) -> Iterator[Stage]:
    """A stage with a worker for each play, and with limits that differ from the defaults."""
    workers = [ScriptedWorker(play, f"w{number}") for number, play in enumerate(plays)]
    scene = Stage(Gateway.model_validate(limits), workers, send_buffer)
    try:
        yield scene
    finally:
        scene.close()
