"""What a SIGHUP does: with a terminal that is closed, with `nohup`, and by `kill -HUP`."""

from __future__ import annotations

import fcntl
import os
import signal
import termios

from tests.balancer.stage import GET
from tests.supervisor.proxy import LONG


def take_terminal(slave: int) -> None:
    """Make this terminal control a new session."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)


def run_in(slave: int) -> None:
    """Run in the foreground of this terminal, even if the tests were started with `nohup`."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    take_terminal(slave)


def test_a_terminal_that_is_closed_ends_it(proxy, worker):
    """A SIGHUP reloads while the terminal is there, and ends the balancer when it was closed."""
    master, slave = os.openpty()
    p = proxy(worker.port, processes=1).start(preexec_fn=lambda: run_in(slave))
    os.close(slave)
    p.reload()
    os.close(master)
    assert p.process.wait(LONG) == 0


def test_under_nohup_a_closed_terminal_is_a_reload(proxy, worker):
    """A balancer that was started with `nohup` survives the end of its terminal."""

    def outlive(slave: int) -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        take_terminal(slave)

    master, slave = os.openpty()
    p = proxy(worker.port, processes=1).start(preexec_fn=lambda: outlive(slave))
    os.close(slave)
    os.close(master)
    p.says("reloaded:")
    with p.call() as client:
        client.send(GET)
        assert client.answer().status == 200
