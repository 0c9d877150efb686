"""The agent, and what it keeps and tells."""

from __future__ import annotations

from typing import ClassVar, Literal

from steelyard.config.section import Rule, Section, key
from steelyard.config.values import (
    Address,
    AddressText,
    Seconds,
    StoreUrl,
)


class Agent(Section):
    """The deployment agent."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("0, or 1 second and more", ("lease",), lambda it: it.lease == 0 or it.lease >= 1),
        Rule(
            "on_stop = leave with a lease: the workers are the next agent's",
            ("lease", "on_stop"),
            lambda it: it.lease == 0 or it.on_stop == "leave",
        ),
    )

    listen: AddressText = key(
        Address("127.0.0.1", 8081),
        "Where the agent serves its API and the queue.",
        flag="--agent-listen",
    )
    tick: Seconds = key(2.0, "Time between two measurements, decisions and queues.", gt=0)
    on_stop: Literal["stop", "leave"] = key(
        "stop", "What happens to the workers when the agent is asked to stop."
    )
    lease: Seconds = key(
        0.0,
        "With several agents of one application on one store: the first leads, the others stand by "
        "and do not listen, and one takes over when the leader has not renewed its lease for so "
        "long. 0: this agent is the only one.",
        flag="--lease",
    )


class Store(Section):
    """What survives a restart."""

    url: StoreUrl = key(
        "sqlite:",
        "`sqlite:PATH` (no path: a file in the state folder), `redis://USER:PASSWORD@HOST:PORT/DB` "
        "(needs `steelyard[redis]`; over TLS `rediss://…`, with `?ssl_ca_certs=PATH` for an "
        "authority of your own) or `memory:`.",
        flag="--store",
    )


class Log(Section):
    """What the agent and the balancers write about themselves."""

    level: Literal["debug", "info", "warning", "error"] = key(
        "info", "Least important message that is written.", flag="--log-level"
    )
