"""Http1Client: one connection of a client; it reads heads, and has one exchange at a time.

Pipelined requests wait in `buffer` and are answered in order. Other handlers replace the client in
the loop before the first request (PROXY header, TLS handshake), after a switch of protocols
(tunnel) and after the last request (lingering close).
"""

from __future__ import annotations

import socket
from math import inf

from steelyard.balancer.downstream.client import Client
from steelyard.balancer.downstream.front import Front
from steelyard.balancer.downstream.handshake import Handshake
from steelyard.balancer.downstream.lingering_close import PAUSE, LingeringClose
from steelyard.balancer.downstream.minimum_rate import MinimumRate
from steelyard.balancer.downstream.proxy_header import ProxyHeader
from steelyard.balancer.downstream.shedding import BODY, HEAD, IDLE, NEEDED, PARTING
from steelyard.balancer.exchange.access_log import REFUSED, Note
from steelyard.balancer.exchange.exchange import Exchange
from steelyard.balancer.exchange.forward import WINDOW, Forward
from steelyard.balancer.exchange.own_answers import options, refusal
from steelyard.balancer.http.fields import BadMessageError
from steelyard.balancer.http.grammar import END, skip_empty_lines
from steelyard.balancer.http.heads import RequestHead
from steelyard.balancer.http.refused_head import read_refused
from steelyard.balancer.io.loop import BROKEN, IN, OUT
from steelyard.balancer.io.octets import cut
from steelyard.balancer.io.stream import Stream
from steelyard.balancer.io.tls import Tls

# A client that half-closed its connection may be gone. If the answer takes longer than this, in
# seconds, the balancer sends the client an interim answer, which a client that is gone answers
# with a reset (docs/decisions, 9). Most answers come sooner, and serve the same purpose.
ASK_AFTER = 1.0
STILL_THERE = b"HTTP/1.1 100 Continue\r\n\r\n"

OPENING, SERVING, ENDING, TUNNELLING = range(4)


class Http1Client(Client):
    """A client's connection that speaks HTTP/1.1 or HTTP/1.0."""

    __slots__ = (
        "_front",
        "_origin",
        "_phase",
        "_rate",
        "_seen",
        "_served",
        "_turning",
    )

    def __init__(self, front: Front, sock: socket.socket, peer: str) -> None:
        super().__init__(front.loop, sock, IN)
        self._front = front
        self._origin = front.manner.origin(peer, front.scheme)
        self._phase = SERVING
        rate = front.settings.body_rate
        self._rate = None if rate is None else MinimumRate(rate)
        self._seen = 0  # bytes of `buffer` that were searched for the end of a head
        self._served = False
        self._turning = False
        self.buffer = b""
        self.eof = False
        self.exchange = None
        self.deadline = front.loop.now + front.limits.head_timeout
        if front.proxy_protocol and self._origin.trusted:
            self._phase = OPENING
            ProxyHeader(self)
        elif front.identity is not None:
            self._phase = OPENING
            Handshake(self, Tls(front.identity.context), b"")

    @property
    def peer(self) -> bytes:
        """The client's address, or the address that a trusted proxy speaks for."""
        return self._origin.peer

    @property
    def trusted(self) -> bool:
        """Whether the client's address, or the one a PROXY header named, is a trusted proxy's."""
        return self._origin.trusted

    # Called by the loop

    def on_event(self, mask: int) -> None:
        if mask & OUT and self.pending:
            self._drain()
            if not self.open:
                return
        if mask & IN:
            self._read()
        elif mask & BROKEN:
            self.abort()

    def expire(self) -> None:
        if self._rate is not None and self._moves() and self._rate.kept(self.loop.now):
            self.deadline = self._rate.bound(self.loop.now + self._front.limits.body_timeout)
            return
        exchange = self.exchange
        if exchange is None:
            if self._phase == SERVING and self.buffer:
                self.refuse(408, "the request's head took too long", False, False)
            else:
                self.close()
        elif self.pending:
            self.abort()
        elif self.eof:
            self._ask(exchange)
        else:
            exchange.on_client_late()

    def abort(self) -> None:
        """Cancel the exchange and close: the client is gone, or must go."""
        exchange, self.exchange = self.exchange, None
        if exchange is not None:
            self.tls = None  # no close_notify, which would make a cut answer look complete
            exchange.cancel()
        self.close()

    # Called by the exchange

    def refuse(self, status: int, reason: str, keep: bool, bodiless: bool) -> None:
        """Send an answer of our own that says why no worker answered."""
        exchange = self.exchange
        head = self._refused_head() if exchange is None else exchange.forward.head
        name = b"" if head is None else head.request_id
        date = self._front.date.line()
        text = refusal(status, reason, date, keep=keep, bodiless=bodiless, request_id=name)
        self._answer(status, text, keep, head)

    def answer_options(self, head: RequestHead, keep: bool) -> None:
        """Answer an OPTIONS request that is addressed to the balancer."""
        text = options(self._front.date.line(), keep=keep, request_id=head.request_id)
        self._answer(200, text, keep, head)

    def _answer(self, status: int, text: bytes, keep: bool, head: RequestHead | None) -> None:
        own = self._front.own
        own[status] = own.get(status, 0) + 1
        if self._front.access_log is not None:
            self._note(status, len(text) - text.index(END) - len(END), head)
        if self.send(text):
            self.finished(keep)
        else:
            self.abort()

    def hurry(self) -> None:
        """Start the time limit for the client's next byte, and check the minimum rate from now."""
        now = self.loop.now
        limit = now + self._front.limits.body_timeout
        if self._rate is None:
            self.deadline = limit
            return
        if self.deadline == inf:
            self._rate.begin(now)
        self.deadline = self._rate.bound(limit)

    def finished(self, keep: bool) -> None:
        """End the exchange. `keep`: serve the next request; otherwise close the connection."""
        self.exchange = None
        self._served = True
        if not keep:
            self._end()
        elif not self._turning:
            self._turn()

    def give_up(self) -> bytes:
        """Hand the connection over to a tunnel; return the bytes received behind the request."""
        self.exchange = None
        self._phase = TUNNELLING
        early, self.buffer = self.buffer, b""
        return early

    def cut(self, reset: bool) -> None:
        """Close the connection within an answer, so that the client notices the truncation."""
        self.exchange = None
        self.tls = None  # no close_notify: the cut must show over TLS as well
        if reset:
            self.reset()
        else:
            self.close()

    # Called by the PROXY header's handler

    def proxied(self, source: str | None, tls: bool, rest: bytes) -> None:
        """Take the client address from a PROXY header; that client may be less trusted than the
        proxy."""
        front = self._front
        if source is not None:
            self._origin = front.manner.origin(source, b"https" if tls else front.scheme)
            if front.connection_limit is not None and not front.connection_limit.admit(self):
                return
        if front.identity is not None:
            Handshake(self, Tls(front.identity.context), rest)
            return
        self._phase = SERVING
        if rest:
            self.buffer = rest
            self._turn()

    # Called by the TLS handshake's handler

    def secured(self, tls: Tls) -> None:
        """Use TLS from now on, and read: the first request may be here already."""
        self.tls = tls
        self._phase = SERVING
        self.deadline = self.loop.now + self._front.limits.head_timeout
        self._read()

    def unshaken(self) -> None:
        """Count the failed handshake and close the connection."""
        self._front.unshaken += 1
        self.close()

    def unsecured(self, data: bytes) -> None:
        """Refuse, in plain HTTP, a client that sent HTTP without TLS to a TLS port."""
        self._phase = SERVING
        self.buffer = data  # the access log reads the request from here
        self.refuse(400, "this port speaks TLS: ask for https://, not http://", False, False)

    # Called by the plane and the shedding

    def hasten(self) -> None:
        """Close soon, as the balancer is stopping, unless a request is in progress. The delay lets
        a request that is on its way arrive."""
        if self.exchange is None and self._phase == SERVING:
            self.deadline = min(self.deadline, self.loop.now + self._front.patience)

    def standing(self) -> tuple[int, float]:
        """Return what the balancer waits for (a rank of shedding.py), and since when."""
        limits, exchange = self._front.limits, self.exchange
        if self.deadline == inf or self._phase == TUNNELLING:
            return NEEDED, inf
        if self.pending or exchange is not None:
            # A minimum rate, if set, ends slow clients; the deadline then does not tell how long
            # a client has been slow.
            waits = bool(self.pending) or not self.eof
            since = self.deadline - limits.body_timeout
            return (BODY, since) if waits and self._rate is None else (NEEDED, inf)
        if self._phase == ENDING:
            return PARTING, self.deadline - PAUSE
        if self._served and not self.buffer:
            return IDLE, self.deadline - limits.idle_timeout
        return HEAD, self.deadline - limits.head_timeout

    def shed(self) -> bool:
        """Close, to make room; return False if a request has just arrived."""
        if self.exchange is None and self._phase == SERVING:
            self._read()
            if self.open and self.exchange is not None:
                return False
        self.abort()
        return True

    def close(self) -> None:
        if self.open:
            Stream.close(self)  # a compiled method cannot use super()
            self._front.left(self)

    # Reading

    def _read(self) -> None:
        count = self.receive()
        if count > 0:
            self._take(count)
        elif count == 0:
            self._take_end()
        elif count == -1:
            self.abort()

    def _take(self, count: int) -> None:
        exchange = self.exchange
        if exchange is not None:
            if not exchange.forward.done:
                if self._rate is not None:
                    self._rate.moved(count)
                exchange.on_body(self.loop.view[:count])
                return
            self.buffer += self.loop.taken(count)
            if len(self.buffer) >= WINDOW:
                self.pause()
        elif self._phase == SERVING:
            if not self.buffer and not self.pending:  # a client with pending bytes must read first
                self.deadline = self.loop.now + self._front.limits.head_timeout
            data = self.loop.taken(count)
            self.buffer = self.buffer + data if self.buffer else data
            self._turn()

    def _take_end(self) -> None:
        """Handle the end of the client's bytes; the client may still read (half-closed)."""
        self.eof = True
        self.pause()
        exchange = self.exchange
        if exchange is not None:
            self._half_closed(exchange)
        elif not self.pending:
            self.close()

    def _half_closed(self, exchange: Exchange) -> None:
        """Handle a FIN within an exchange as `gateway.half_close` says, because a FIN does not tell
        whether the client is gone or has only finished sending (docs/decisions, 9)."""
        manner = self._front.settings.half_close
        if not exchange.forward.done or manner == "abort":
            self.abort()
        elif manner == "ask" and exchange.answer.head is None and not self.pending:
            self.deadline = self.loop.now + ASK_AFTER

    def _ask(self, exchange: Exchange) -> None:
        """Send a 100 (Continue), which every HTTP/1.1 client must accept at any time; the kernel of
        a client that is gone answers with a reset."""
        waits = exchange.forward.head.http11 and exchange.answer.head is None
        if waits and not self.send(STILL_THERE):
            self.abort()

    def _moves(self) -> bool:
        """Whether a body is on its way, from or to the client."""
        exchange = self.exchange
        return bool(self.pending) or (exchange is not None and not exchange.forward.done)

    # One request after the other

    def _turn(self) -> None:
        """Begin the requests in the buffer, one after the other, while each is answered at once."""
        self._turning = True
        while self.buffer and self._phase == SERVING and not self.pending:
            if self.exchange is not None or not self._begin():
                break
        self._turning = False
        if self.exchange is None and self._phase == SERVING and self.open:
            self._wait()

    def _begin(self) -> bool:
        """Begin the request at the front of the buffer; return False if its head is incomplete or
        malformed."""
        front = self._front
        reader = front.reader
        if not self._seen and self.buffer.startswith(b"\r"):
            self.buffer = skip_empty_lines(self.buffer)
            if self.buffer in (b"", b"\r"):
                return False
        data, pin = self.buffer, None
        try:
            head = reader.request(data, self._seen, self.tls is not None, self._origin.host)
            if head is None:
                self._seen = len(data)
                return False
            if not head.host:
                self._origin.local = _local_address(self.sock)
            if front.pool.sticky is not None:
                pin = front.pool.sticky.read(head, self._origin.secure(head))
            forward = Forward.__new__(Forward)
            forward.begin(head, self._origin, front.limits.body)
        except BadMessageError as bad:
            self.refuse(bad.status, bad.message, False, False)
            return False
        self._seen = 0
        self.buffer = cut(data, reader.end, len(data))
        self.deadline = inf
        exchange = Exchange.__new__(Exchange)
        exchange.begin(front, self, forward)
        if pin is not None:
            exchange.pin = pin
        self.exchange = exchange
        if front.total_timeout is not None:
            front.total_timeout.began(self)
        exchange.start()
        return True

    def _wait(self) -> None:
        """Wait for the client to read pending bytes, or to send the next request."""
        if self.pending:
            if self.deadline == inf:  # sending must not extend the time limit to read
                self.hurry()
            if len(self.buffer) >= WINDOW:
                self.pause()
        elif self.eof:
            self.close()
        else:
            self.resume()
            if not self.buffer:
                front = self._front
                limit = front.patience if front.draining else front.limits.idle_timeout
                self.deadline = self.loop.now + limit
            elif self.deadline == inf:
                self.deadline = self.loop.now + self._front.limits.head_timeout

    # Writing and ending

    def _drain(self) -> None:
        before = self.sent
        if not self.flush():
            self.abort()
        elif self.pending:
            if self._rate is not None:
                self._rate.moved(self.sent - before)
            self.hurry()
        elif self.exchange is not None:
            self.exchange.on_client_drained()
        elif self._phase == ENDING:
            self._linger()
        else:
            self.deadline = inf
            self._turn()

    def _end(self) -> None:
        self._phase = ENDING
        self.buffer = b""
        if self.tls is not None:
            self.tls.finish(self)
        if not self.pending:
            self._linger()
            return
        self.deadline = inf  # start a new period of the minimum rate
        self.hurry()
        if not self.eof:
            self.resume()

    def _refused_head(self) -> RequestHead | None:
        """Return the readable part of the head of a request that did not become an exchange."""
        head = read_refused(self.buffer)
        if head is not None:
            head.request_id = self._origin.request_id(head)
        return head

    def _note(self, status: int, size: int, head: RequestHead | None) -> None:
        exchange, now = self.exchange, self.loop.now
        if exchange is not None:
            exchange.note(status, size, REFUSED)
        elif self._front.access_log is not None:
            self._front.access_log.note(Note(now, now, self.peer, head, status, size, "", REFUSED))

    def _linger(self) -> None:
        if self.eof:
            self.close()
        else:
            LingeringClose(self)


def _local_address(sock: socket.socket) -> bytes:
    """Return the local address and port that a client connected to."""
    host, port = sock.getsockname()[:2]
    return f"[{host}]:{port}".encode() if ":" in host else f"{host}:{port}".encode()
