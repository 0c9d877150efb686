"""The main function of a child: `python -m steelyard.supervisor.entry FD NAME`.

FD is an inherited file descriptor from which the child reads its role.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from functools import partial

from steelyard.errors import Fault, SteelyardError
from steelyard.logs import log_to_file, set_up_logging
from steelyard.parent import end_with
from steelyard.supervisor.channel import is_over, stand_by
from steelyard.supervisor.plan import AgentLink, Role

USAGE = 2  # exit status of an error that a restart does not mend


class NoQueueError(SteelyardError):
    """The agent is away, so the old balancers, which have its last queue, must go on serving."""

    fault = Fault.MACHINE
    retry = True


def main() -> None:
    """Read the role that the parent has written, and run the agent or balancer it describes."""
    with os.fdopen(int(sys.argv[1])) as file:
        role = Role.model_validate_json(file.read())
    if not role.outlives:
        die_with_parent(role)
    set_up_logging(role.name, role.settings.log.level)
    try:
        _play(role)
    except SteelyardError as error:
        sys.stderr.write(f"error: {error}\n")
        raise SystemExit(1 if error.retry else USAGE) from None


def die_with_parent(role: Role) -> None:
    """Have the kernel send this child a signal when its parent ends.

    A balancer gets TERM: it finishes its exchanges and ends. An agent would take TERM for a request
    to stop its workers, so it gets HUP.
    """
    told = signal.SIGHUP if role.part == "agent" else signal.SIGTERM
    end_with(role.parent, told)


def _play(role: Role) -> None:
    if role.part == "agent":
        _lead(role)
    else:
        _balance(role)


def _lead(role: Role) -> None:
    from steelyard.agent.process import run_agent
    from steelyard.agent.supervision import Supervision

    channel = socket.socket(fileno=role.channel)
    supervision = None
    if role.outlives:
        # A supervisor that is gone already may have died before it noted this agent in its pid
        # file, and then no other supervisor would find it.
        if is_over(channel):
            return
        supervision = Supervision(channel, partial(log_to_file, role.log_file))
    run_agent(role.settings, last=role.last, supervision=supervision)


def _balance(role: Role) -> None:
    from steelyard.balancer.control.agent_link import AgentSource
    from steelyard.balancer.orphan import Will
    from steelyard.balancer.process import run_balancer

    source = AgentSource(*role.source) if isinstance(role.source, AgentLink) else role.source
    assert source is not None  # noqa: S101 - a balancer's role has one

    def begin(knows: bool) -> bool:
        if role.successor and not knows:
            raise NoQueueError("no queue from the agent, so the old balancers go on")
        return stand_by(channel)

    channel = socket.socket(fileno=role.channel)
    will = None
    if role.outlives:
        will = Will(channel, role.handover, partial(log_to_file, role.log_file))
    gateway, fds = role.settings.gateway, role.listen_fds
    run_balancer(gateway, fds, role.identity, source, begin, will, role.board)


if __name__ == "__main__":
    main()
