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


class Order(NamedTuple):
    """What is to be run: `up` has an agent of its own, `balancer` another source of its queue."""

    settings: Settings
    source: AgentLink | Queue | None


def agent_link(settings: Settings, *addresses: Address) -> AgentLink:
    """The link to the agent at one of these addresses."""
    urls = tuple(f"ws://{address.reachable}" for address in addresses)
    return AgentLink(urls, settings.token_file.resolve())


class Role(BaseModel):
    """What one child is."""

    model_config = ConfigDict(frozen=True)

    part: Literal["agent", "balancer"]
    name: str
    settings: Settings
    parent: int
    identity: str = ""  # a balancer's name for the agent, which knows those of several gateways
    listen_fds: tuple[int, ...] = ()  # a balancer's share of the gateway's port
    channel: int = -1  # where it tells that it could serve
    successor: bool = False  # a balancer that takes over: not without a queue
    last: bool = False  # an agent that comes only to stop the workers of the one before
    source: AgentLink | Queue | None = None  # a balancer's: an agent, or a fixed fleet


def agent_role(settings: Settings) -> Role:
    """The agent of an application."""
    return Role(part="agent", name="agent", settings=settings, parent=os.getpid())


def last_role(role: Role) -> Role:
    """The agent that clears up after this one, whose port may be taken by now."""
    listen = Address(role.settings.agent.listen.host, 0)
    agent = role.settings.agent.model_copy(update={"listen": listen})
    settings = role.settings.model_copy(update={"agent": agent})
    return role.model_copy(update={"settings": settings, "last": True})


def balancer_role(
    settings: Settings,
    generation: int,
    index: int,
    listen_fds: Sequence[int],
    source: AgentLink | Queue,
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
        listen_fds=tuple(listen_fds),
        source=source,
        successor=generation > 1,
    )
