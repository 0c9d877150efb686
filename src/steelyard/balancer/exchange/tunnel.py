"""Tunnel: what an exchange becomes when the worker agrees to another protocol (RFC 9110, 7.8).

Bytes pass both ways, unread. Each side takes its stream's place in the loop, so the tunnel costs
ordinary exchanges nothing.

A tunnel that is to end by our will (its worker is to be stopped, or we are) is a surprise to both
sides, unless it carries a WebSocket: there the client gets a Close frame from us, behind the last
whole frame of the worker's, and the client's own Close goes on to the worker. When the client has
none to give in time, the worker gets one from us.

Back-pressure: a side with bytes pending stops the other from being read, so one receive is kept
per direction at most. The end of one direction is carried over once all before it was taken; the
other direction goes on. A broken connection breaks the other one too, visibly, as it would if
client and worker were connected without us.
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

PARTING = 3.0  # seconds, for a client to answer our Close frame and for its worker to hang up


class Tunnel:
    """Two sides. It holds the worker's in-flight count until both have ended."""

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
        self._until = inf  # when it is closed, if it was dismissed
        self._front = Side(self, client)
        self._back = Side(self, upstream)
        self._front.other, self._back.other = self._back, self._front

    def frame(self, answered: Buffer, early: Buffer) -> None:
        """It carries a WebSocket: follow its frames, from the first ones, which the worker sent
        behind its answer and the client behind its request."""
        self._back.follow(answered)
        self._front.follow(early)

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
        self._front.deadline = min(self._until, self._loop.now + self._idle)

    def dismiss(self) -> bool:
        """End it soon, and politely; False when nothing is known of its protocol, or it ends."""
        if self._ended or self._until != inf or self._back.frames is None:
            return False
        self._until = self._loop.now + PARTING
        self.moved()
        self._back.part(close_frame())
        return True

    def expire(self) -> None:
        """Nothing passed for too long, or the time to part is over."""
        if self._until != inf and self._back.stream.open:
            self._front.part(close_frame(os.urandom(4)))  # RFC 6455, 5.3: no client can guess it
        self.close()

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
        """End both sides; a second call changes nothing."""
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
        self.eof = False  # it will send no more
        self.shut = False  # it was told that no more comes
        self.frames: Frames | None = None  # that come from here, if it speaks WebSocket
        self._word = b""  # ours, that the other side gets behind the present frame
        self._muted = False  # the other side has got our last word: nothing more from here
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
        self._tunnel.expire()

    def dismiss(self) -> bool:
        """See `Tunnel.dismiss`."""
        return self._tunnel.dismiss()

    def abort(self) -> None:
        self._tunnel.close()

    def lost(self) -> None:
        """Its peer is gone, and nothing of it is left to be read."""
        self._tunnel.broken(self)

    # From the tunnel and the other side

    def follow(self, first: Buffer) -> None:
        """Frames come from here; the first octets of them have been passed on."""
        self.frames = Frames()
        self.frames.feed(first)

    def part(self, word: bytes) -> None:
        """Give the other side this last word, behind the present frame of this side's."""
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
        data: Buffer = self.stream.loop.view[:count]
        if self.frames is not None:
            data = self._framed(data)
        if not other.stream.send(data):
            self._tunnel.broken(other)
        elif other.stream.pending:
            self.stream.pause()

    def _framed(self, data: Buffer) -> Buffer:
        """What the other side gets of these octets."""
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
        """Broken, perhaps after bytes that the other side is too slow to take: they come first."""
        if self.eof:
            self._tunnel.broken(self)
        elif self.stream.mask & IN:
            self._read()  # resumed in this very round, after the event was made
        else:
            self.stream.park()

    def _park_when_done(self) -> None:
        """A socket closed both ways is always ready, and would keep the loop spinning."""
        if self.done and self.stream.open and not self.stream.parked:
            self.stream.park()
