"""Upstream: one connection to a worker: it is connecting, busy with one exchange, or idle."""

from __future__ import annotations

import errno
import os
import socket

from steelyard.balancer.io.loop import BROKEN, IN, OUT, RECEIVE, Loop
from steelyard.balancer.io.syscalls import is_quiet
from steelyard.balancer.pool.counters import Lease
from steelyard.balancer.pool.requester import Requester
from steelyard.balancer.pool.worker import Connection, Worker

MOMENT = 0.1  # seconds; a connection that became idle since then is not checked


class Upstream(Connection):
    """A connection to a worker. The loop watches it while it is idle, and sees its end at once."""

    __slots__ = ("_lease", "_rested", "connecting", "line", "mark", "requester", "reused", "worker")

    def __init__(self, loop: Loop, worker: Worker, requester: Requester) -> None:
        """Begin to connect; raise an OSError if that fails at once."""
        super().__init__(loop, _connect(worker), OUT)
        self.worker = worker
        self.requester: Requester | None = requester
        self.connecting = True
        self.reused = False
        self._rested = 0.0  # when the connection became idle
        self.mark = 0  # `sent` when the present exchange began
        self._lease = Lease(worker.tally)
        self._lease.take()
        self.line = worker.tally.inflight  # the worker's exchanges in flight, this one included

    @property
    def untouched(self) -> bool:
        """Whether no byte of the present exchange was sent to the worker."""
        return self.sent == self.mark

    def on_event(self, mask: int) -> None:
        if self.connecting:
            self._connected()
            return
        if mask & (OUT | BROKEN) and self.requester is not None and self.pending:
            self.requester.on_worker_writable()
            if not self.open:
                return
        if mask & IN:
            self._read()
        elif mask & BROKEN:
            self._broken()

    def expire(self) -> None:
        if self.requester is None:
            self.abort()
        else:
            self.requester.on_worker_late()

    def abort(self) -> None:
        requester = self.requester
        if requester is not None:
            requester.on_mishap()
        self.close()
        if requester is None:
            self.worker.lost()

    def lend(self, requester: Requester) -> None:
        """Begin another exchange on this connection."""
        self.requester = requester
        self.reused = True
        self.mark = self.sent
        self._lease.take()
        self.line = self.worker.tally.inflight

    def give_back(self, until: float) -> None:
        """End the exchange, and keep the connection idle for the next one."""
        self.requester = None
        self.deadline = until
        self._rested = self.loop.now
        self.worker.keep(self)
        self._lease.release(failed=False)

    def give_up(self) -> None:
        """Hand the connection over to a tunnel, which will drop it."""
        self.requester = None

    def drop(self, failed: bool) -> None:
        """End the exchange and close the connection."""
        self.requester = None
        self._lease.release(failed)
        self.close()

    def quiet(self) -> bool:
        """Whether the worker has neither closed this idle connection nor sent anything on it. A
        connection that was busy a moment ago is not checked: the worker's keep-alive time cannot
        be over yet."""
        return self.loop.now - self._rested < MOMENT or is_quiet(self.fd)

    def _connected(self) -> None:
        failed = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        self.connecting = False
        requester = self.requester
        if requester is None:
            self.close()
        elif failed or not self._admitted():
            requester.on_worker_gone()
        else:
            self.watch(IN)
            requester.on_connected()

    def _admitted(self) -> bool:
        guard = self.worker.guard
        return guard is None or guard.admits(self.worker.name, self.sock)

    def _read(self) -> None:
        requester = self.requester
        flows = False
        if requester is not None and requester.flows():
            flows = True
            count = self._fill(requester)
        else:
            count = self.receive()
        if count == -2:
            return
        if requester is None:  # idle: the worker closed, or sent bytes unasked
            self.abort()
        elif count > 0:
            self.worker.tally.received += count
            if flows:
                requester.on_flow(count)
            else:
                requester.on_answer(count)
        elif count == 0:
            requester.on_answer_end()
        else:
            requester.on_worker_gone()

    def _fill(self, requester: Requester) -> int:
        """Receive into the pipe: no more bytes than the body has left, and no more than fit into
        the loop's buffer, which takes them if the client does not."""
        return self.loop.pipe.fill(self.fd, min(requester.left(), RECEIVE))

    def _broken(self) -> None:
        """Handle a broken connection: read the bytes that came before it broke. While the client is
        slow and reading is paused, only silence epoll."""
        if self.mask & IN:
            self._read()
        else:
            self.park()


def _connect(worker: Worker) -> socket.socket:
    sock = socket.socket(worker.family, socket.SOCK_STREAM)
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    code = sock.connect_ex(worker.address)
    if code not in (0, errno.EINPROGRESS):
        sock.close()
        raise OSError(code, os.strerror(code))
    return sock
