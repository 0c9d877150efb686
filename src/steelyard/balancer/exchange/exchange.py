"""Exchange: the life of one request.

    start ──► connecting ──► sending ──► answering ──► complete
               ▲    │           │            │
               └────┴── retry ──┘            ├──► cut: the client sees a truncated answer
                          │                  └──► tunnel: both sides switch protocols
                          └──► refuse: 502, 503, 504, as nothing was relayed yet

At any point the client may leave (cancel). A request is tried again only if none of its bytes were
sent to a worker, or if it is idempotent, no answer has begun and all its bytes are still kept.

Back-pressure: while bytes for one side are pending, the other side is not read. So the exchange
buffers at most the bytes of one receive per direction.
"""

from __future__ import annotations

import logging
from math import inf
from time import monotonic

from steelyard.balancer.exchange.access_log import CANCELLED, COMPLETE, CUT, GONE, SWITCHED, Note
from steelyard.balancer.exchange.answer import Answer
from steelyard.balancer.exchange.forward import WINDOW, Forward
from steelyard.balancer.exchange.frames import is_websocket
from steelyard.balancer.exchange.ports import Downstream
from steelyard.balancer.exchange.shared import Shared
from steelyard.balancer.exchange.tunnel import Tunnel
from steelyard.balancer.http.fields import BadMessageError
from steelyard.balancer.http.heads import RequestHead
from steelyard.balancer.io.loop import IN, OUT
from steelyard.balancer.io.octets import Buffer
from steelyard.balancer.pool.latency import FAILED, FAULT
from steelyard.balancer.pool.requester import Requester
from steelyard.balancer.pool.upstream import Upstream

log = logging.getLogger(__name__)

FRONT = 4096  # bytes at the start of a receive that are copied to parse an answer's head
# A body with at least this many bytes to come goes through a pipe, without a copy in our memory.
# For fewer bytes the pipe costs more than the copy (docs/decisions, 24).
LARGE = 64 * 1024


class Exchange(Requester):
    """One request and its answer, between one client and one worker at a time."""

    __slots__ = (
        "_began",
        "_broken",
        "_client",
        "_heard",
        "_mark",
        "_opened",
        "_reached",
        "_relayed",
        "_shared",
        "_upstream",
        "_waiting",
        "_waits_since",
        "answer",
        "forward",
    )

    def begin(self, shared: Shared, client: Downstream, forward: Forward) -> None:
        """Do the work of `__init__`; `RequestHead.begin` says why."""
        self._shared = shared
        self._client = client
        self.forward = forward
        self._upstream: Upstream | None = None
        self._began = 0.0  # when the answer's latency starts to count
        self._heard = False  # the worker has sent a byte
        self._opened = shared.loop.now
        self._mark = client.sent  # bytes that the client got before this exchange
        self._reached = False  # a worker accepted a connection and got a part of the request
        self._relayed = False  # the client has a part of the worker's answer
        self._broken = False  # sending to the worker failed; its answer may still be readable
        self._waiting = False  # the request waits for a worker with room
        self._waits_since = 0.0
        self.tried = ()
        self.crowded = False
        self.pin = None
        self.answer = Answer.__new__(Answer)
        self.answer.begin(forward.head, shared.reader, shared.date)

    @property
    def asker(self) -> bytes:
        """The client's address."""
        return self._client.peer

    def start(self) -> None:
        """Take the body bytes that are already here, and find a worker."""
        forward, client = self.forward, self._client
        if forward.head.hops == 0:
            self._be_the_last(forward.head)
            return
        if not forward.done:
            data, client.buffer = client.buffer, b""
            try:
                forward.hold(forward.feed(data))
            except BadMessageError as bad:
                self._end(bad.status, bad.message, failed=False)
                return
            self._body_progress()
            if not forward.done:
                client.resume()
        if self._shared.loop.chore is not None:  # other requests wait: no overtaking
            self._wait()
        else:
            self._begin(self._shared.attempts.first(self, careful=not forward.idempotent))

    # The client's side

    def on_body(self, data: Buffer) -> None:
        """Forward more bytes of the request's body."""
        try:
            out = self.forward.feed(data)
        except BadMessageError as bad:
            self._end(bad.status, bad.message, failed=False)
            return
        self._body_progress()
        upstream = self._upstream
        if not out:
            return
        if upstream is not None and not upstream.connecting and not self._broken:
            self._pass_on(upstream, out)
        elif upstream is not None or self._waiting:
            self._keep_back(out)

    def on_client_drained(self) -> None:
        """Read from the worker again: the client has taken all pending bytes."""
        if self.forward.done:
            self._client.deadline = inf
        else:
            self._client.hurry()
        upstream = self._upstream
        if upstream is not None and not upstream.connecting:
            upstream.resume()
            if self.answer.head is not None:
                upstream.deadline = self._pause_limit()

    def on_client_late(self) -> None:
        """End the exchange: the client paused too long within its body, or sent it too slowly."""
        self._end(408, "the request's body came too slowly", failed=False)

    def on_overdue(self) -> None:
        """End the exchange: its total time limit is over, whichever side was slow."""
        self._end(504, "the exchange took too long", failed=False)

    def cancel(self) -> None:
        """End the exchange because the client is gone, and drop the worker's connection."""
        self._stop_waiting()
        if self._shared.access_log is not None:
            self._note_end(GONE, CANCELLED)
        self._drop_upstream(failed=False)

    # Waiting

    def on_turn(self) -> None:
        """Choose a worker for the waiting request: a worker has room now."""
        self._waiting = False
        self._begin(self._shared.attempts.first(self, careful=not self.forward.idempotent))
        upstream = self._upstream
        if upstream is not None and not upstream.connecting:
            self._read_on(upstream)

    def on_wait_over(self) -> None:
        """Refuse the waiting request: no worker had room in time."""
        self._waiting = False
        self._refuse("no worker had room in time")

    def _wait(self) -> None:
        pool = self._shared.pool
        if pool.table.choice is None:
            self._no_worker()
            return
        self._waits_since = self._waits_since or pool.loop.now
        self._waiting = pool.wait(self, self._waits_since)
        if not self._waiting:
            self._refuse("too many requests are waiting")

    def _stop_waiting(self) -> None:
        if self._waiting:
            self._waiting = False
            self._shared.pool.waiting.leave(self)

    # The worker's side

    def on_connected(self) -> None:
        """Send the request: the worker accepted the connection."""
        upstream = self._upstream
        if upstream is not None:
            self._transmit(upstream)
            self._read_on(upstream)

    def on_worker_writable(self) -> None:
        """Send pending bytes of the request: the worker's socket can take more."""
        upstream = self._upstream
        if upstream is None:
            return
        before = upstream.sent
        if not upstream.flush():
            self._break(upstream)
            return
        self._sent(upstream, before)
        self._read_on(upstream)

    def on_answer(self, count: int) -> None:
        """Relay `count` bytes that the worker sent and that are in the loop's buffer."""
        answer, client, upstream = self.answer, self._client, self._upstream
        if upstream is None:
            return
        self._heard = True
        opened = answer.head is not None
        try:
            out = self._front(count, opened)
            more = self._behind(count) if count > FRONT and not opened else None
        except BadMessageError as bad:
            # The message quotes bytes of the worker, which the client must not see.
            log.warning("%s: its answer is malformed: %s", upstream.worker.name, bad.message)
            self._end(502, "the worker's answer is malformed", failed=True)
            return
        if not opened and answer.head is not None:
            self._relayed = True
            self._measure(upstream, answer.head.status)
            if self._broken:
                self._forget_body()
        if not (client.send(out) if more is None else client.send_both(bytes(out), more)):
            client.abort()
        elif answer.done:
            self._complete(upstream)
        elif answer.switched:
            self._switch(client, upstream)
        else:
            self._answer_progress(client, upstream)

    def flows(self) -> bool:
        """Whether the worker's next bytes can go to the client through the pipe, unparsed."""
        client = self._client
        if self.answer.left() < LARGE or client.tls is not None or client.pending:
            return False
        return client.loop.pipe.works

    def left(self) -> int:
        """Return how many bytes of an answer's body of known length are still to come."""
        return self.answer.left()

    def on_flow(self, count: int) -> None:
        """Relay `count` bytes that the worker sent and that are in the loop's pipe."""
        client, upstream = self._client, self._upstream
        self.answer.passed(count)
        if not client.pour(count):
            client.abort()
        elif upstream is not None and self.answer.done:
            self._complete(upstream)
        elif upstream is not None:
            self._answer_progress(client, upstream)

    def on_answer_end(self) -> None:
        """End the answer: the worker closed its side with a FIN."""
        upstream = self._upstream
        if upstream is None or self.answer.head is None:
            self.on_worker_gone()
            return
        try:
            out = self.answer.end()
        except BadMessageError as bad:
            self._end(502, bad.message, failed=True)
            return
        if out and not self._client.send(out):
            self._client.abort()
        else:
            self._complete(upstream)

    def on_worker_gone(self) -> None:
        """Try another worker or end: the connection was refused, reset or closed unanswered."""
        upstream = self._upstream
        if upstream is None:
            return
        self._reached = self._reached or not upstream.untouched
        self._drop_upstream(failed=True)
        stale = upstream.reused and not self._heard  # no fault of the worker
        if not stale:
            self._shared.pool.struck(upstream.worker)
        if self._heard or not self._repeatable(upstream):
            self._end(502, "the worker gave no answer", failed=False)
            return
        self._broken = False
        self._begin(self._shared.attempts.again(self, upstream))

    def on_worker_late(self) -> None:
        """Handle a missed deadline of the worker: to accept the connection, to take the request,
        to begin the answer or to continue it."""
        upstream = self._upstream
        if upstream is not None and upstream.connecting:
            self.on_worker_gone()
        else:
            self._end(504, "the worker did not answer in time", failed=True)

    def on_mishap(self) -> None:
        """End the exchange after a bug in the balancer or the end of the loop, without a retry."""
        self._end(502, "the exchange was given up", failed=False)

    # Sending

    def _begin(self, upstream: Upstream | None) -> None:
        self._upstream = upstream
        self._began = monotonic()
        if upstream is None:
            self._unplaced()
            return
        if self.pin is not None:
            self.forward.head.session = self.pin.goes_to(upstream.worker)
        if not upstream.connecting:
            self._transmit(upstream)

    def _transmit(self, upstream: Upstream) -> None:
        """Send the head and the body bytes kept so far on a new or reused connection."""
        forward = self.forward
        before = upstream.sent
        head = b"" if forward.replay is None else forward.replay
        if not (upstream.send_both(head, forward.held) if forward.held else upstream.send(head)):
            self._break(upstream)
            return
        if not forward.idempotent and not upstream.untouched:
            forward.give_up()
        self._sent(upstream, before)

    def _pass_on(self, upstream: Upstream, out: Buffer) -> None:
        before = upstream.sent
        taken = upstream.send(out)
        if upstream.untouched:
            self.forward.hold(out)
        else:
            self.forward.sent(out)
        if taken:
            self._sent(upstream, before)
        else:
            self._break(upstream)

    def _keep_back(self, out: Buffer) -> None:
        """Keep body bytes that no worker can take now, unless the answer has already begun."""
        if self.answer.head is not None:
            return
        self.forward.hold(out)
        if self._broken or self.forward.size() >= WINDOW:
            self._client.pause()
            if self._waiting:  # the balancer causes this pause: no time limit for the client
                self._client.deadline = inf

    def _sent(self, upstream: Upstream, before: int) -> None:
        """Set the deadlines after bytes went to the worker, and apply back-pressure."""
        upstream.worker.tally.sent += upstream.sent - before
        if upstream.pending:
            upstream.deadline = self._pause_limit()
            if not self.forward.done:
                self._client.pause()
                self._client.deadline = inf
        elif self.answer.head is None:
            limits = self._shared.limits
            done = self.forward.done
            upstream.deadline = self._shared.loop.now + limits.answer_timeout if done else inf

    def _read_on(self, upstream: Upstream) -> None:
        if not self.forward.done and not upstream.pending and not self._broken:
            self._client.resume()
            self._client.hurry()

    def _break(self, upstream: Upstream) -> None:
        """Stop sending to a worker that takes no more; the next read may bring its answer."""
        self._broken = True
        upstream.pending.clear()
        upstream.watch(upstream.mask & ~OUT if self._relayed else IN)
        if self._relayed:
            self._forget_body()
        elif not self.forward.done:
            self._client.pause()

    def _forget_body(self) -> None:
        """Read and discard the rest of the body, as the worker answered and takes no more. Some
        clients read only after they have written everything: without this, they would wait for
        the balancer to read, and the balancer for them."""
        if not self.forward.done and not self._client.eof:
            self._client.resume()

    def _body_progress(self) -> None:
        if self.forward.done:
            self._client.buffer = bytes(self.forward.rest)
            self._client.deadline = inf
            self._began = monotonic()
        else:
            self._client.hurry()

    def _repeatable(self, upstream: Upstream) -> bool:
        if self.forward.replay is None:
            return False
        return upstream.untouched or self.forward.idempotent

    # Answering

    def _measure(self, upstream: Upstream, status: int) -> None:
        seconds = monotonic() - self._began
        tally = upstream.worker.tally
        tally.first_byte(seconds, status)
        if self._shared.pool.estimator is not None:
            counted = seconds if status < FAULT else FAILED
            self._shared.pool.measured(tally, counted, upstream.line)

    def _front(self, count: int, opened: bool) -> Buffer:
        """Return the client's bytes from the buffer: from all of it once the answer is `opened`,
        and before that only from the first FRONT bytes."""
        loop = self._shared.loop
        if opened:
            return self.answer.feed(loop.view[:count], False)
        return self.answer.feed(loop.taken(min(count, FRONT)), self._closing())

    def _behind(self, count: int) -> Buffer:
        """Return the client's bytes from the rest of the buffer, without a copy: the bytes belong
        to the body, or to another protocol."""
        data = self._shared.loop.view[FRONT:count]
        if not self.answer.switched:
            return self.answer.feed(data, self._closing())
        self.answer.behind += data
        return data

    def _closing(self) -> bool:
        """Whether the client's connection must end after this answer: the balancer is stopping, or
        the answer came before the end of the request's body."""
        return self._shared.draining or not self.forward.done

    def _answer_progress(self, client: Downstream, upstream: Upstream) -> None:
        if client.pending:
            upstream.pause()
            client.hurry()
        if self.answer.head is not None:
            upstream.deadline = inf if client.pending else self._pause_limit()

    def _switch(self, client: Downstream, upstream: Upstream) -> None:
        if self._shared.access_log is not None:
            self._note_end(101, SWITCHED)
        self._upstream = None
        upstream.give_up()
        early = client.give_up()
        tunnel = Tunnel(client, upstream, self._shared.tunnel_idle)
        if is_websocket(self.answer.head):
            tunnel.frame(self.answer.behind, early)
        tunnel.begin(early, client.eof)

    def _complete(self, upstream: Upstream) -> None:
        if self._shared.access_log is not None:
            self._note_end(0, COMPLETE)
        self._upstream = None
        clean = self.forward.done and not upstream.pending and not self._broken
        if clean and self.answer.reusable() and upstream.worker.serving:
            upstream.give_back(self._shared.loop.now + self._shared.limits.upstream_idle)
        else:
            upstream.drop(failed=False)
        if upstream.worker.record.strikes:
            self._shared.pool.redeemed(upstream.worker)
        self._client.finished(self.answer.keep and self.forward.done)

    # Ends

    def _unplaced(self) -> None:
        if self.crowded:
            self._wait()
        else:
            self._no_worker()

    def _no_worker(self) -> None:
        if self._reached:
            self._end(502, "a worker accepted the request and closed unanswered", failed=False)
        elif self.tried:
            self._end(502, "no worker could be reached", failed=False)
        else:
            self._refuse("no worker is ready")

    def _be_the_last(self, head: RequestHead) -> None:
        """Answer a request with Max-Forwards: 0, which may not be forwarded (RFC 9110, 7.6.2).

        A TRACE gets an error: its answer would show the client the fields that proxies between it
        and the balancer have added.
        """
        if head.method == b"TRACE":
            self._end(501, "TRACE is not served here", failed=False)
        else:
            self._client.answer_options(head, head.keep and not self._closing())

    def _refuse(self, reason: str) -> None:
        self._shared.pool.refused += 1
        self._end(503, reason, failed=False)

    def _end(self, status: int, reason: str, failed: bool) -> None:
        """End without a complete answer from a worker: send an answer of our own, or cut the
        connection visibly if the worker's answer had begun."""
        self._stop_waiting()
        if failed and self._upstream is not None:
            self._shared.pool.struck(self._upstream.worker)
        if self._relayed and self._shared.access_log is not None:
            self._note_end(status, CUT)
        self._drop_upstream(failed)
        if self._relayed:
            self._client.cut(self.answer.until_close)
            return
        head = self.forward.head
        keep = head.keep and not self._closing()
        self._client.refuse(status, reason, keep, head.method == b"HEAD")

    def note(self, status: int, size: int, outcome: str) -> None:
        """Add this request to the access log, if there is one."""
        access_log, upstream, loop = self._shared.access_log, self._upstream, self._shared.loop
        if access_log is not None:
            worker = "" if upstream is None else upstream.worker.name
            head = self.forward.head
            peer = self._client.peer
            access_log.note(Note(self._opened, loop.now, peer, head, status, size, worker, outcome))

    def _note_end(self, status: int, outcome: str) -> None:
        """Note the request with the worker's status, or `status` if no answer had begun, and the
        number of body bytes relayed."""
        head, client = self.answer.head, self._client
        sent = client.sent + len(client.pending) - self._mark - self.answer.head_size
        self.note(status if head is None else head.status, max(0, sent), outcome)

    def _drop_upstream(self, failed: bool) -> None:
        upstream = self._upstream
        if upstream is not None:
            self._upstream = None
            upstream.drop(failed)

    def _pause_limit(self) -> float:
        return self._shared.loop.now + self._shared.limits.body_timeout
