"""The plan: which child processes there are, and what each needs to know.

A child gets its role as JSON through an inherited file, not on the command line, where every user
of the machine could read the application's environment.
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
    """Where a balancer gets its queue: from the agent that leads, at one of these URLs."""

    urls: tuple[str, ...]
    token_file: Path
    application: str = ""  # the application to serve; empty: that of the first queue


class Order(NamedTuple):
    """What a supervisor is to run.

    `steelyard up` runs an agent of its own, so its source is None; `steelyard balancer` gets its
    queue from another agent, or has a fixed one.
    """

    settings: Settings
    source: AgentLink | Queue | None


def agent_link(settings: Settings, *addresses: Address) -> AgentLink:
    """The link to the agent at one of these addresses."""
    urls = tuple(f"ws://{address.reachable}" for address in addresses)
    named = "name" in settings.application.model_fields_set
    application = settings.application.name if named else ""
    return AgentLink(urls, settings.token_file.resolve(), application)


class Role(BaseModel):
    """Everything that one child needs to know."""

    model_config = ConfigDict(frozen=True)

    part: Literal["agent", "balancer"]
    name: str
    settings: Settings
    parent: int
    folder: Path | None = None  # the gateway's folder; None: the child ends with its parent
    identity: str = ""  # a balancer's name at the agent, which may know several gateways
    listen_fds: tuple[int, ...] = ()  # a balancer's listening sockets
    channel: int = -1  # the file descriptor of the channel to its parent
    successor: bool = False  # a balancer that takes over, which it must not without a queue
    last: bool = False  # an agent that is started only to stop the workers of the one before
    source: AgentLink | Queue | None = None  # of a balancer: an agent, or a fixed fleet
    board: str = ""  # the token by which a balancer finds the board; empty: no metrics

    @property
    def outlives(self) -> bool:
        """Whether the child goes on without its parent; the next supervisor then finds it by the
        pid file.
        """
        return self.folder is not None and not self.last

    @property
    def handover(self) -> Path:
        """The socket on which a balancer without a supervisor hands over its listening sockets."""
        return self._in_folder(f"{self.name}.sock")

    @property
    def log_file(self) -> Path:
        """The file for messages of a child without a supervisor, the same for each generation."""
        return self._in_folder(f"{self.name.partition('.')[0]}.log")

    def _in_folder(self, name: str) -> Path:
        assert self.folder is not None  # noqa: S101 - asked only for a child that outlives its parent
        return self.folder / name


def agent_role(settings: Settings, folder: Path | None = None) -> Role:
    """The role of the agent of an application."""
    return Role(part="agent", name="agent", settings=settings, parent=os.getpid(), folder=folder)


def last_role(role: Role, *, at_once: bool = False) -> Role:
    """The role of a last agent, which stops the workers that the agent of this role left.

    It listens on any free port, as the configured one may be in use by now. With `at_once` it kills
    the workers without the configured grace.
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
    """The role of one balancer.

    A balancer that is restarted keeps its identity, so that it takes its own place at the agent. No
    balancer of another generation, gateway or supervisor has the same identity: the agent would mix
    up their exchanges, and stop a worker with which one of them still has exchanges open.
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
