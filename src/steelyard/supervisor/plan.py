"""The plan: which child processes there are, and what each needs to know.

It travels to the child as JSON through an inherited file, not on the command line, where every
user of the machine could read the application's environment.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from steelyard.config.settings import Settings
from steelyard.config.values import Address
from steelyard.core.queue import Queue


class AgentLink(NamedTuple):
    """Where a balancer gets its queue: from the agent that leads, of these."""

    urls: tuple[str, ...]
    token_file: Path
    application: str = ""  # whose queues are served from; empty: that of the first queue


class Order(NamedTuple):
    """What is to be run: `up` has an agent of its own, `balancer` another source of its queue."""

    settings: Settings
    source: AgentLink | Queue | None


def agent_link(settings: Settings, *addresses: Address) -> AgentLink:
    """The link to the agent at one of these addresses."""
    urls = tuple(f"ws://{address.reachable}" for address in addresses)
    named = "name" in settings.application.model_fields_set
    application = settings.application.name if named else ""
    return AgentLink(urls, settings.token_file.resolve(), application)


class Role(BaseModel):
    """What one child is."""

    model_config = ConfigDict(frozen=True)

    part: Literal["agent", "balancer"]
    name: str
    settings: Settings
    parent: int
    folder: Path | None = None  # the gateway's folder; none: it ends with its parent
    identity: str = ""  # a balancer's name for the agent, which knows those of several gateways
    listen_fds: tuple[int, ...] = ()  # a balancer's share of the gateway's port
    channel: int = -1  # where it tells that it could serve
    successor: bool = False  # a balancer that takes over: not without a queue
    last: bool = False  # an agent that comes only to stop the workers of the one before
    source: AgentLink | Queue | None = None  # a balancer's: an agent, or a fixed fleet
    board: str = ""  # the token by which a balancer finds the board; empty: nobody wants metrics

    @property
    def outlives(self) -> bool:
        """Whether it goes on without its parent: the next supervisor finds it by the pid file."""
        return self.folder is not None and not self.last

    @property
    def handover(self) -> Path:
        """Where a balancer that was left alone hands over its listening sockets."""
        return self._in_folder(f"{self.name}.sock")

    @property
    def log_file(self) -> Path:
        """Where it writes when it was left alone; the same for each generation."""
        return self._in_folder(f"{self.name.partition('.')[0]}.log")

    def _in_folder(self, name: str) -> Path:
        assert self.folder is not None  # noqa: S101 - asked only of one that outlives its parent
        return self.folder / name


def agent_role(settings: Settings, folder: Path | None = None) -> Role:
    """The agent of an application."""
    return Role(part="agent", name="agent", settings=settings, parent=os.getpid(), folder=folder)


def last_role(role: Role, *, at_once: bool = False) -> Role:
    """The agent that clears up after this one, whose port may be taken by now.

    `at_once` has it kill the workers without the grace that they are configured to have.
    """
    listen = Address(role.settings.agent.listen.host, 0)
    agent = role.settings.agent.model_copy(update={"listen": listen})
    grace = 0.0 if at_once else role.settings.runtime.grace
    runtime = role.settings.runtime.model_copy(update={"grace": grace})
    settings = role.settings.model_copy(update={"agent": agent, "runtime": runtime})
    return role.model_copy(update={"settings": settings, "last": True})


def balancer_role(
    settings: Settings,
    generation: int,
    index: int,
    listen_fds: Sequence[int],
    source: AgentLink | Queue,
    folder: Path | None = None,
    *,
    board: str = "",
    successor: bool = False,
) -> Role:
    """One of the balancers.

    Its identity is stable, so that a successor takes its place, and is shared with no balancer of
    another generation or gateway, or of this one's earlier life: the agent would mix up their
    exchanges, and stop a worker that only one of them has let go of.
    """
    name = f"balancer-{index}" if generation == 1 else f"balancer-{index}.{generation}"
    return Role(
        part="balancer",
        name=name,
        identity=f"{name}@{socket.gethostname()}:{os.getpid()}",
        settings=settings,
        parent=os.getpid(),
        folder=folder,
        listen_fds=tuple(listen_fds),
        source=source,
        board=board,
        successor=successor,
    )
