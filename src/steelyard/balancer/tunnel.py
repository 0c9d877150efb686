"""Tunnel: what an exchange becomes when the worker agrees to another protocol (RFC 9110, 7.8).

Bytes pass both ways, unread. Each side takes its stream's place in the loop, so the tunnel costs
ordinary exchanges nothing.

Back-pressure: a side with bytes pending stops the other from being read, so one receive is kept
per direction at most. The end of one direction is carried over once all before it was taken; the
other direction goes on. A broken connection breaks the other one too, visibly, as it would if
client and worker were connected without us.
"""

from __future__ import annotations

import contextlib
import socket
from math import inf
from typing import TYPE_CHECKING

from steelyard.balancer.loop import BROKEN, IN, OUT, Handler
from steelyard.balancer.stream import Stream

if TYPE_CHECKING:
    from steelyard.balancer.client import Client
    from steelyard.balancer.upstream import Upstream


class Tunnel:
    """Two sides. It holds the worker's in-flight count until both have ended."""

    __slots__ = ("_back", "_client", "_front", "_idle", "_loop", "_tally", "_upstream")

    def __init__(self, client: Client, upstream: Upstream, idle: float) -> None:
        self._client = client
        self._upstream = upstream
        self._idle = idle
        self._loop = upstream.loop
        self._tally = upstream.worker.tally
        self._front = Side(self, client)
        self._back = Side(self, upstream)
        self._front.other, self._back.other = self._back, self._front

    def begin(self, early: bytes, eof: bool) -> None:
        """`early` is what the client sent behind its request, `eof` whether that was all."""
        self.moved()
        if early and not self._upstream.send(early):
            self.broken(self._back)
            return
        self._tally.sent += len(early)
        self._back.hold_up(self._front)
        self._front.hold_up(self._back)
        if eof:
            self._front.ended()

    def count(self, side: Side, count: int) -> None:
        """Bytes came from a side."""
        if side is self._front:
            self._tally.sent += count
        else:
            self._tally.received += count

    def moved(self) -> None:
        """Bytes passed, in whichever direction."""
        self._front.deadline = self._loop.now + self._idle

    def settle(self) -> None:
        """Close when both directions have ended."""
        if self._front.done and self._back.done:
            self.close()

    def broken(self, side: Side) -> None:
        """One side is gone: the other must not take that for a proper end."""
        other = self._front if side is self._back else self._back
        other.stream.reset()
        self.close()

    def close(self) -> None:
        """End both sides."""
        self._upstream.drop(failed=False)
        self._client.close()


class Side(Handler):
    """One connection of a tunnel, and whether each of its directions has ended."""

    __slots__ = ("_tunnel", "eof", "other", "shut", "stream")

    other: Side

    def __init__(self, tunnel: Tunnel, stream: Stream) -> None:
        self._tunnel = tunnel
        self.stream = stream
        self.deadline = inf
        self.eof = False  # it will send no more
        self.shut = False  # it was told that no more comes
        stream.loop.replace(stream.fd, self)

    @property
    def done(self) -> bool:
        return self.eof and self.shut

    # From the loop

    def on_event(self, mask: int) -> None:
        stream = self.stream
        if mask & (OUT | BROKEN) and stream.pending:
            self._drain()
            if not stream.open:
                return
        if mask & IN and not self.eof:
            self._read()
        elif mask & BROKEN:
            self._gone()

    def expire(self) -> None:
        """Nothing passed for too long."""
        self._tunnel.close()

    def abort(self) -> None:
        self._tunnel.close()

    def lost(self) -> None:
        """Its peer is gone, and nothing of it is left to be read."""
        self._tunnel.broken(self)

    # From the tunnel and the other side

    def hold_up(self, source: Side) -> None:
        """Have the source read only while this side takes what comes."""
        if self.stream.pending or source.eof:
            source.stream.pause()
        else:
            source.stream.resume()

    def ended(self) -> None:
        """No more comes from here."""
        self.eof = True
        self.stream.pause()
        self._park_when_done()
        if not self.other.stream.pending:
            self.other.finish()

    def finish(self) -> None:
        """Tell the peer that no more comes; it has all that came before."""
        stream = self.stream
        if stream.tls is not None and not stream.tls.finish(stream):
            return  # TLS has a word of its own for it, which goes first
        with contextlib.suppress(OSError):  # it is gone, which the next event tells
            stream.sock.shutdown(socket.SHUT_WR)
        self.shut = True
        self._park_when_done()
        self._tunnel.settle()

    def _read(self) -> None:
        stream = self.stream
        count = stream.receive()
        if count > 0:
            self._pass_on(count)
        elif count == 0:
            self.ended()
        elif count == -1:
            self._tunnel.broken(self)

    def _pass_on(self, count: int) -> None:
        other = self.other
        self._tunnel.count(self, count)
        self._tunnel.moved()
        if not other.stream.send(self.stream.loop.view[:count]):
            self._tunnel.broken(other)
        elif other.stream.pending:
            self.stream.pause()

    def _drain(self) -> None:
        stream = self.stream
        if not stream.flush():
            self._tunnel.broken(self)
            return
        self._tunnel.moved()
        if not stream.pending:
            if self.other.eof:
                self.finish()
            else:
                self.other.stream.resume()

    def _gone(self) -> None:
        """Broken, perhaps after bytes that the other side is too slow to take: they come first."""
        if self.eof or self.stream.mask & IN:
            self._tunnel.broken(self)
        else:
            self.stream.park()

    def _park_when_done(self) -> None:
        """A socket closed both ways is always ready, and would keep the loop spinning."""
        if self.done and self.stream.open and not self.stream.parked:
            self.stream.park()
