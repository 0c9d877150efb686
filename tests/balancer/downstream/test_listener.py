"""Tests of the options of clients' sockets."""

from __future__ import annotations

from tests.balancer.stage import GET, always, stage, unacknowledged, until

SIZE = 16 * 2**20


def test_the_kernel_holds_little_for_a_slow_reader() -> None:
    """The kernel buffers less than 1 MiB for a slow client; a send buffer could grow to 4 MiB."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % SIZE + bytes(SIZE)
    with stage(always(answer)) as s, s.call(receive_buffer=4096) as slow:
        slow.send(GET)
        until(lambda: any(client.pending for client in s.plane.front.clients))
        (client,) = s.plane.front.clients
        assert unacknowledged(client.sock) < 2**20
