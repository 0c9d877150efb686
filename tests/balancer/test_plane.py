"""Tests of the whole data plane: changes of the table, pools, the listener, a lossless stop."""

from __future__ import annotations

import contextlib
import resource
import socket
import threading

import pytest

from steelyard.balancer.downstream.listener import Listener
from steelyard.balancer.downstream.total_timeout import TotalTimeout
from steelyard.balancer.plane import HURRIED, UNHURRIED
from steelyard.core.lifecycle import State
from steelyard.select.ring import default_size
from tests.balancer.stage import GET, OK, PATIENCE, Conn, Play, Stage, always, stage, until

POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"


def named(name: bytes) -> Play:
    """A worker that answers with its name."""
    return always(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(name), name))


def idle(s: Stage) -> int:
    """The number of idle connections to workers."""
    return sum(len(worker.idle) for worker in s.directory)


def test_weights_share_the_requests() -> None:
    """One round of the ring gives each worker its share of the requests."""
    with stage(named(b"a"), named(b"b"), policy="weighted_ring") as s:
        s.queue(s.workers[0].entry(weight=3), s.workers[1].entry(weight=1))
        got = [s.get().body for _ in range(default_size(2))]
        assert got.count(b"a") == 3 * got.count(b"b")


@pytest.mark.parametrize(
    ("state", "weight"),
    [(State.SUNDOWN, 1), (State.SHUTDOWN, 1), (State.INIT, 1), (State.LU, 0)],
)
def test_who_gets_nothing_new(state: State, weight: float) -> None:
    """A worker that is leaving, not ready or without weight gets no request."""
    with stage(named(b"a"), named(b"b")) as s:
        s.queue(s.workers[0].entry(state, weight), s.workers[1].entry(State.HU))
        assert {s.get().body for _ in range(40)} == {b"b"}
        s.queue(s.workers[0].entry(state, weight))
        assert s.get().status == 503


def test_an_open_exchange_outlives_its_workers_place_in_the_ring() -> None:
    """A worker in SUNDOWN gets no new request, finishes its exchange, and is then disconnected."""
    go = threading.Event()

    def slow(conn: Conn) -> None:
        conn.request()
        assert go.wait(PATIENCE)
        conn.send(OK)
        assert conn.ended()

    with stage(slow) as s, s.call() as client:
        client.send(GET)
        until(lambda: len(s.worker.seen) == 1)
        s.queue(s.worker.entry(State.SUNDOWN))
        assert s.inflight() == 1
        assert s.get().status == 503
        go.set()
        assert client.answer().body == b"ok"
        until(lambda: s.inflight() == 0)
        assert idle(s) == 0


def test_idle_connections_of_a_worker_that_left_are_closed() -> None:
    """Idle connections to a worker that has left the table are closed."""
    with stage(always()) as s:
        assert s.get().status == 200
        until(lambda: idle(s) == 1)
        s.queue()
        assert idle(s) == 0
        s.queue(s.worker.entry())
        assert s.get().status == 200
        assert s.worker.accepted == 2


def test_idle_connection_that_the_worker_closes_is_dropped_at_once() -> None:
    """An idle connection that the worker closes is removed from the pool at once."""
    go = threading.Event()

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(OK)
        assert go.wait(PATIENCE)

    with stage(play) as s:
        assert s.get().status == 200
        until(lambda: idle(s) == 1)
        go.set()
        until(lambda: idle(s) == 0)


def test_idle_connection_that_speaks_out_of_turn_is_dropped() -> None:
    """An idle connection on which bytes arrive is closed: they must answer no later request."""
    go = threading.Event()

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(OK)
        assert go.wait(PATIENCE)
        conn.send(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
        assert conn.ended()

    with stage(play) as s:
        assert s.get().status == 200
        until(lambda: idle(s) == 1)
        go.set()
        until(lambda: idle(s) == 0)


def test_idle_connection_grows_old() -> None:
    """An idle connection is closed after a time, before the worker would close it."""
    with stage(always(), upstream_idle=0.1) as s:
        assert s.get().status == 200
        until(lambda: idle(s) == 1)
        until(lambda: idle(s) == 0)


def test_a_worker_that_moved_is_called_at_its_new_address() -> None:
    """A worker with the same name at another port gets no requests on its old connections."""
    with stage(named(b"a"), named(b"b")) as s:
        s.queue(s.workers[0].entry())
        assert s.get().body == b"a"
        moved = s.workers[1].entry().model_copy(update={"name": s.workers[0].name})
        s.queue(moved)
        assert {s.get().body for _ in range(5)} == {b"b"}


def test_no_more_clients_than_allowed() -> None:
    """Clients over the limit wait in the backlog until another client leaves."""
    with stage(always(), connections=2) as s:
        first, second = s.call(), s.call()
        for client in (first, second):
            client.send(GET)
            assert client.answer().status == 200
        third = s.call()
        third.send(GET)
        first.send(GET)
        assert first.answer().status == 200
        assert len(s.plane.front.clients) == 2
        first.sock.close()
        assert third.answer().status == 200
        second.sock.close()
        third.sock.close()


def test_out_of_file_descriptors() -> None:
    """Without a free file descriptor a client waits, and is served when there is one again."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    asked, go = threading.Event(), threading.Event()

    def play(conn: Conn) -> None:
        conn.request()
        asked.set()
        assert go.wait(PATIENCE)
        conn.send(OK)
        always()(conn)

    with stage(play) as s, s.call() as client:
        # The client is in an exchange: an idle client would be closed to make room.
        client.send(GET)
        assert asked.wait(PATIENCE)
        waiting = socket.socket()
        hoard: list[socket.socket] = []
        resource.setrlimit(resource.RLIMIT_NOFILE, (waiting.fileno() + 20, hard))
        try:
            with contextlib.suppress(OSError):
                while True:
                    hoard.append(socket.socket())
            waiting.connect(("127.0.0.1", s.port))
            waiting.sendall(GET)
            until(lambda: any(getattr(h, "_warned", False) for h in s.handlers()))
            until(lambda: any(getattr(h, "_accepting", True) is False for h in s.handlers()))
            go.set()
            assert client.answer().status == 200  # connected clients are still served
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for sock in hoard:
                sock.close()
        waiting.settimeout(PATIENCE)
        assert waiting.recv(1000).startswith(b"HTTP/1.1 200")
        waiting.close()


def test_a_bug_costs_one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception in the balancer's code ends only the connection where it happened."""
    with stage(always(), total_timeout=30) as s, s.call() as client:
        with monkeypatch.context() as patch:
            patch.setattr(TotalTimeout, "began", lambda *_: 1 / 0)
            client.send(GET)
            assert client.ended()
        assert s.get().status == 200


# A stop without loss


def waiting_for(go: threading.Event) -> Play:
    """A worker that answers its only request when `go` is set."""

    def slow(conn: Conn) -> None:
        conn.request()
        assert go.wait(PATIENCE)
        conn.send(OK)

    return slow


def never(conn: Conn) -> None:
    """A worker that does not answer."""
    conn.request()
    assert conn.ended()


def test_stop_lets_exchanges_finish() -> None:
    """Idle clients are closed, open exchanges end with `Connection: close`, then the plane ends."""
    go = threading.Event()

    def slow(conn: Conn) -> None:
        conn.request()
        conn.send(OK)
        conn.request()
        assert go.wait(PATIENCE)
        conn.send(OK)

    with stage(slow) as s, s.call() as busy, s.call() as quiet:
        quiet.send(GET)
        assert quiet.answer().status == 200
        busy.send(GET)
        until(lambda: s.inflight() == 1)
        s.plane.stop()
        assert quiet.ended()
        assert s.thread.is_alive()
        go.set()
        answer = busy.answer()
        assert (answer.status, answer.get(b"connection")) == (200, b"close")
        assert busy.ended()
        s.thread.join(10)
        assert not s.thread.is_alive()


def test_stop_lets_bodies_finish() -> None:
    """A request whose body is still coming is served to the end."""
    with stage(always()) as s, s.call() as client:
        client.send(POST)
        until(lambda: s.inflight() == 1)
        s.plane.stop()
        until(lambda: s.plane.front.draining)
        client.send(b"body")
        assert client.answer().get(b"connection") == b"close"
        s.thread.join(10)
        assert s.worker.seen[0].body == b"body"


def test_stop_serves_who_has_just_connected() -> None:
    """A client that is connected, and has not sent its request yet, gets its answer."""
    with stage(always()) as s, s.call() as client:
        until(lambda: len(s.plane.front.clients) == 1)
        s.plane.stop()
        until(lambda: s.plane.front.draining)
        client.send(GET)
        assert client.answer().get(b"connection") == b"close"


def test_stop_accepts_nobody_new() -> None:
    """New connections after a stop are left to the other processes that share the port."""
    go = threading.Event()
    with stage(waiting_for(go)) as s, s.call() as client:
        client.send(GET)
        until(lambda: s.inflight() == 1)
        (listener,) = (one for one in s.handlers() if isinstance(one, Listener))
        with listener._sock.dup() as another:
            s.plane.stop()
            until(lambda: s.plane.front.draining)
            with s.call() as late:
                late.send(GET)
                go.set()
                assert client.answer().status == 200
                assert another.accept()[0].recv(100) == GET
        assert len(s.worker.seen) == 1


def test_a_port_that_everybody_has_left_is_closed() -> None:
    """Once all processes have left a port, new clients are refused and do not wait in vain."""
    with stage(never) as s, s.call() as client:
        client.send(GET)
        until(lambda: s.inflight() == 1)
        s.plane.stop()
        until(lambda: s.plane.front.draining)
        s.plane.offer(s.plane.pool.table)  # a round of the loop, after which sockets are closed
        until(lambda: refused(s.port))


def refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return True
    return False


def test_stop_has_a_deadline() -> None:
    """Exchanges that have not ended when the drain time is over are cut."""
    with stage(never, drain=0.2) as s, s.call() as client:
        client.send(GET)
        until(lambda: s.inflight() == 1)
        s.plane.stop()
        assert client.ended()
        s.thread.join(10)
        assert not s.thread.is_alive()


def test_second_stop_is_at_once() -> None:
    """A second stop ends the plane without waiting for exchanges."""
    with stage(never, drain=1000) as s, s.call() as client:
        client.send(GET)
        until(lambda: s.inflight() == 1)
        s.plane.stop()
        s.plane.stop()
        s.thread.join(10)
        assert not s.thread.is_alive()


def test_a_stop_cuts_nobody_whom_a_reload_left_to_finish() -> None:
    """A stop after a reload counts as the first stop: open exchanges are finished."""
    go = threading.Event()
    with stage(waiting_for(go)) as s, s.call() as client:
        client.send(GET)
        until(lambda: s.inflight() == 1)
        s.plane.replace()
        until(lambda: s.plane.front.patience == UNHURRIED)
        s.plane.stop()
        until(lambda: s.plane.front.patience == HURRIED)
        go.set()
        answer = client.answer()
        assert (answer.status, answer.get(b"connection")) == (200, b"close")


def test_who_is_idle_has_longer_where_others_serve() -> None:
    """Idle clients of a replaced balancer may stay longer than those of a stopped balancer."""
    with stage(always()) as s, s.call() as wire:
        wire.send(GET)
        assert wire.answer().status == 200
        [client] = s.plane.front.clients
        idle, began = client.deadline, s.plane.loop.now
        s.plane.replace()
        until(lambda: client.deadline != idle)
        assert client.deadline >= began + UNHURRIED
        s.plane.stop()
        assert wire.ended()


def test_stop_under_load_loses_nothing() -> None:
    """Clients under load lose no request: each client's last answer says `Connection: close`."""
    lost: list[object] = []
    with stage(always(), always()) as s:

        def swing() -> None:
            with s.call() as client:
                closing = None
                while closing is None:
                    try:
                        client.send(GET)
                        answer = client.answer()
                    except (EOFError, OSError) as error:
                        lost.append(error)
                        return
                    if answer.status != 200:
                        lost.append(answer)
                    closing = answer.get(b"connection")

        threads = [threading.Thread(target=swing) for _ in range(8)]
        for thread in threads:
            thread.start()
        until(lambda: s.total("requests") > 200)
        s.plane.stop()
        for thread in threads:
            thread.join(10)
        assert lost == []
