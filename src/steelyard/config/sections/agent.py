"""The agent, its store and its log."""

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
        Rule(
            "a lease of 0, or of at least 1 second",
            ("lease",),
            lambda it: it.lease == 0 or it.lease >= 1,
        ),
        Rule(
            "on_stop = leave with a lease, because the next agent takes over the workers",
            ("lease", "on_stop"),
            lambda it: it.lease == 0 or it.on_stop == "leave",
        ),
    )

    listen: AddressText = key(
        Address("127.0.0.1", 8081),
        "Address at which the agent serves its API and the queue.",
        flag="--agent-listen",
    )
    tick: Seconds = key(
        2.0, "Time between two ticks: each measures, decides and publishes the queue.", gt=0
    )
    on_stop: Literal["stop", "leave"] = key(
        "stop", "Whether the agent stops its workers or leaves them running when it is stopped."
    )
    lease: Seconds = key(
        0.0,
        "For several agents of one application that share a store: the first one leads, the others "
        "stand by and do not listen. One of them takes over if the leader has not renewed its "
        "lease for this time. 0: this agent is the only one.",
        flag="--lease",
    )


class Store(Section):
    """Where the agent keeps what must survive a restart."""

    url: StoreUrl = key(
        "sqlite:",
        "The store: `sqlite:PATH` (without a path, a file in the state folder), "
        "`redis://USER:PASSWORD@HOST:PORT/DB` (needs `steelyard[redis]`; over TLS `rediss://…`, "
        "with `?ssl_ca_certs=PATH` for a certificate authority of your own) or `memory:`.",
        flag="--store",
    )


class Log(Section):
    """The log of the agent and the balancers."""

    level: Literal["debug", "info", "warning", "error"] = key(
        "info", "Messages of this level and of more important ones are logged.", flag="--log-level"
    )
