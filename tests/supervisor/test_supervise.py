"""All children of a gateway together."""

from __future__ import annotations

import os
import signal

import psutil

from steelyard.config.settings import Gateway, Settings
from steelyard.config.values import Address
from steelyard.core.queue import Queue
from steelyard.supervisor.plan import Order
from steelyard.supervisor.supervise import Supervisor
from tests.supervisor.test_child import until

NOBODY = Queue(application="app", epoch="e", version=0)


def one_balancer() -> Settings:
    return Settings(gateway=Gateway(listen=Address("127.0.0.1", 0), processes=1))


async def test_a_balancer_that_was_told_something_is_still_looked_after():
    """A balancer that was told to reopen its log is still restarted when it is killed."""
    said: list[str] = []
    supervisor = Supervisor(Order(one_balancer(), NOBODY), said.append)
    supervisor.start()
    (balancer,) = supervisor.balancers
    await supervisor.serving()
    supervisor.reopen_logs()
    first = balancer.pid
    os.kill(first, signal.SIGKILL)
    await until(lambda: balancer.restarts == 1 and balancer.pid != first)
    await supervisor.close()
    assert not psutil.pid_exists(balancer.pid)
