"""Tunnel: relays bytes after the worker agreed to switch to another protocol (RFC 9110, 7.8).

The tunnel relays bytes in both directions without interpreting them. Each `Side` replaces its
stream as the handler in the loop, so ordinary exchanges pay nothing for tunnels.

The balancer ends a tunnel when it stops, or when the worker is to be stopped. Most protocols have
no message that the balancer could announce this with. A WebSocket has one: the balancer sends the
client a Close frame behind the worker's last whole frame, and relays the client's own Close frame
to the worker. If the client sends no Close frame in time, the balancer sends the worker one.

Back-pressure: while bytes for one side are pending, the other side is not read. So the tunnel
buffers at most the bytes of one receive per direction. When one direction ends, its receiver is
told after it took all bytes before the end; the other direction goes on. When one connection
breaks, the tunnel resets the other one, as if client and worker were connected directly.
"""

from __future__ import annotations

import contextlib
import os
import socket
from math import inf

from steelyard.balancer.exchange.frames import Frames, close_frame
from steelyard.balancer.exchange.ports import Downstream
from steelyard.balancer.io.loop import BROKEN, IN, OUT, Handler
from steelyard.balancer.io.octets import Buffer
from steelyard.balancer.io.stream import Stream
from steelyard.balancer.pool.upstream import Upstream

PARTING = 3.0  # seconds for a client to answer our Close frame and for its worker to close


class Tunnel:
    """A pair of sides. A tunnel counts as in flight at its worker until both sides have ended."""

    __slots__ = (
        "_back",
        "_client",
        "_ended",
        "_front",
        "_idle",
        "_loop",
        "_tally",
        "_until",
        "_upstream",
    )

    def __init__(self, client: Downstream, upstream: Upstream, idle: float) -> None:
        self._client = client
        self._upstream = upstream
        self._idle = idle
        self._loop = upstream.loop
        self._tally = upstream.worker.tally
        self._tally.tunnels += 1
        self._ended = False
        self._until = inf  # when a dismissed tunnel is closed
        self._front = Side(self, client)
        self._back = Side(self, upstream)
        self._front.other, self._back.other = self._back, self._front

    def frame(self, answered: Buffer, early: Buffer) -> None:
        """Parse the frames of a WebSocket in both directions. `answered` is what the worker sent
        behind its answer, and `early` what the client sent behind its request."""
        self._back.follow(answered)
        self._front.follow(early)

    def begin(self, early: bytes, eof: bool) -> None:
        """Start to relay. `early` is what the client sent behind its request, `eof` tells whether
        the client will send no more."""
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
        """Count bytes received from a side, in the worker's statistics."""
        if side is self._front:
            self._tally.sent += count
        else:
            self._tally.received += count

    def moved(self) -> None:
        """Restart the idle time limit: bytes passed in one of the directions."""
        self._front.deadline = min(self._until, self._loop.now + self._idle)

    def dismiss(self) -> bool:
        """Send the client a Close frame, and close the tunnel within PARTING seconds. Return False
        if the tunnel carries no WebSocket, or has ended or been dismissed already."""
        if self._ended or self._until != inf or self._back.frames is None:
            return False
        self._until = self._loop.now + PARTING
        self.moved()
        self._back.part(close_frame())
        return True

    def expire(self) -> None:
        """Close the tunnel: it was idle for too long, or its time after a dismissal is over."""
        if self._until != inf and self._back.stream.open:
            self._front.part(close_frame(os.urandom(4)))  # RFC 6455, 5.3: unpredictable mask
        self.close()

    def settle(self) -> None:
        """Close the tunnel if both directions have ended."""
        if self._front.done and self._back.done:
            self.close()

    def broken(self, side: Side) -> None:
        """Reset the connection of the other side, so that its peer sees no regular end; close."""
        other = self._front if side is self._back else self._back
        other.stream.reset()
        self.close()

    def close(self) -> None:
        """Close the connections of both sides; a second call changes nothing."""
        if not self._ended:
            self._ended = True
            self._tally.tunnels -= 1
        self._upstream.drop(failed=False)
        self._client.close()


class Side(Handler):
    """One connection of a tunnel, and whether each of its directions has ended."""

    __slots__ = ("_muted", "_tunnel", "_word", "eof", "frames", "other", "shut", "stream")

    other: Side

    def __init__(self, tunnel: Tunnel, stream: Stream) -> None:
        self._tunnel = tunnel
        self.stream = stream
        self.deadline = inf
        self.eof = False  # the peer will send no more
        self.shut = False  # the peer was told that no more bytes come
        self.frames: Frames | None = None  # parses what the peer sends on a WebSocket
        self._word = b""  # our Close frame, to follow the peer's present frame
        self._muted = False  # our Close frame was sent: the peer's bytes are discarded
        stream.loop.replace(stream.fd, self)

    @property
    def done(self) -> bool:
        return self.eof and self.shut

    # Called by the loop

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
        self._tunnel.expire()

    def dismiss(self) -> bool:
        """Dismiss the tunnel (see `Tunnel.dismiss`)."""
        return self._tunnel.dismiss()

    def abort(self) -> None:
        self._tunnel.close()

    def lost(self) -> None:
        """Break the tunnel: the peer is gone and left no bytes to read."""
        self._tunnel.broken(self)

    # Called by the tunnel and the other side

    def follow(self, first: Buffer) -> None:
        """Start to parse the peer's frames; their `first` octets were relayed before."""
        self.frames = Frames()
        self.frames.feed(first)

    def part(self, word: bytes) -> None:
        """Send the other side `word`, a Close frame, as soon as this peer's present frame is whole;
        relay nothing of this peer after that."""
        frames = self.frames
        if frames is None or frames.closed or self._muted or self.other.shut:
            return
        if not frames.between:
            self._word = word
            return
        self._muted = True
        if not self.other.stream.send(word):
            self._tunnel.broken(self.other)

    def hold_up(self, source: Side) -> None:
        """Read from `source` only while no bytes for this side are pending."""
        if self.stream.pending or source.eof:
            source.stream.pause()
        else:
            source.stream.resume()

    def ended(self) -> None:
        """Handle the end of the peer's bytes: tell the other side once it took all of them."""
        self.eof = True
        self.stream.pause()
        self._park_when_done()
        if not self.other.stream.pending:
            self.other.finish()

    def finish(self) -> None:
        """Tell the peer, which has taken all bytes, that no more come."""
        stream = self.stream
        if stream.tls is not None and not stream.tls.finish(stream):
            return  # the close_notify alert of TLS must be sent first
        with contextlib.suppress(OSError):  # the peer is gone; the next event reports it
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
        data: Buffer = self.stream.loop.view[:count]
        if self.frames is not None:
            data = self._framed(data)
        if not other.stream.send(data):
            self._tunnel.broken(other)
        elif other.stream.pending:
            self.stream.pause()

    def _framed(self, data: Buffer) -> Buffer:
        """Return the part of `data` that the other side gets, with our Close frame if one waits."""
        frames = self.frames
        if self._muted or frames is None:
            return b""
        if not self._word:
            frames.feed(data)
            return data
        end = frames.step(data, 0)
        if not frames.between or frames.closed:
            return data
        self._muted = True
        return bytes(data[:end]) + self._word

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
        """Handle a broken connection, after relaying the bytes that came before it broke, even if
        the other side takes them slowly."""
        if self.eof:
            self._tunnel.broken(self)
        elif self.stream.mask & IN:
            self._read()  # reading resumed in this round of events, after epoll reported this one
        else:
            self.stream.park()

    def _park_when_done(self) -> None:
        """Take a socket that is closed in both directions out of epoll, where it would always be
        ready and keep the loop spinning."""
        if self.done and self.stream.open and not self.stream.parked:
            self.stream.park()
