"""Makes the supervisor of `up` and `balancer` from the environment and the state folder."""

from __future__ import annotations

import os
from collections.abc import Callable

from steelyard.errors import SteelyardError
from steelyard.sockets import listen
from steelyard.supervisor.activation import given_sockets
from steelyard.supervisor.notify import Notify
from steelyard.supervisor.pidfile import PidFile, open_pid_file
from steelyard.supervisor.plan import Order
from steelyard.supervisor.supervise import Supervisor


def make_supervisor(
    order: Order, say: Callable[[str], None], load: Callable[[], Order]
) -> Supervisor:
    """Make the supervisor without starting anything; raise, for instance, for an address in use."""
    given = given_sockets(os.environ, os.getpid())
    pid_file = open_pid_file(order.settings, agent=order.source is None)
    try:
        _require_agents_port(order, pid_file)
        return Supervisor(order, say, load, Notify(os.environ), given, pid_file)
    except SteelyardError:
        if pid_file is not None:
            pid_file.leave()
        raise


def _require_agents_port(order: Order, pid_file: PidFile | None) -> None:
    """Raise if the agent's port is in use, before anything is started.

    An agent without a supervisor may listen there; it ends before the next one begins.
    """
    left = pid_file is not None and pid_file.before.living("agent")
    if order.source is None and not left:
        listen(order.settings.agent.listen, 1, "--agent-listen").close()
