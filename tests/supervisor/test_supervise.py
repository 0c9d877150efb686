"""The children of a gateway together."""

from __future__ import annotations

import os
import signal

import psutil
import pytest

from steelyard.config.settings import Gateway, Settings
from steelyard.config.values import Address
from steelyard.core.queue import Queue
from steelyard.supervisor.child import Child
from steelyard.supervisor.supervise import Supervisor
from tests.supervisor.test_child import until

NOBODY = Queue(application="app", epoch="e", version=0)


def one_balancer() -> Settings:
    return Settings(gateway=Gateway(listen=Address("127.0.0.1", 0), processes=1))


@pytest.fixture
async def supervisor(monkeypatch):
    """One of balancers, none of which is really started."""
    monkeypatch.setattr(Child, "start", lambda self: None)
    settings = Settings(gateway=Gateway(listen=Address("127.0.0.1", 0)))
    made = Supervisor(settings, lambda line: None, NOBODY)
    yield made
    await made.close()


@pytest.mark.parametrize("ignored", [True, False])
async def test_a_hangup_stops_it_unless_it_was_started_to_outlive_one(supervisor, ignored):
    """`nohup` has the signal ignored from the start, and that must stay so."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        supervisor.start()
        assert (signal.getsignal(signal.SIGHUP) is signal.SIG_IGN) is ignored
    finally:
        signal.signal(signal.SIGHUP, before)


async def test_a_balancer_that_was_told_something_is_still_looked_after():
    """To have its log opened anew is not to be stopped: killed later, it is started again."""
    said: list[str] = []
    supervisor = Supervisor(one_balancer(), said.append, NOBODY)
    supervisor.start()
    (balancer,) = supervisor.balancers
    await until(lambda: "serving" in " ".join(said))
    supervisor.reopen_logs()
    first = balancer.pid
    os.kill(first, signal.SIGKILL)
    await until(lambda: balancer.restarts == 1 and balancer.pid != first)
    await supervisor.close()
    assert not psutil.pid_exists(balancer.pid)
