"""The events that happen to the fleet, again and again, in this order."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from steelyard.bench.soak.gateway import Gateway
from steelyard.bench.soak.report import Event
from steelyard.core.status import FleetStatus

SETTLE = 30.0  # seconds that the fleet may take to be whole again


class Kind(NamedTuple):
    """One kind of event: what is done, and how many workers there should be afterwards."""

    name: str
    do: Callable[[Gateway, str, int], None]
    more: int  # how many workers more than at the beginning
    takes_victim: bool


CYCLE = (
    Kind("killed", lambda gateway, victim, _: gateway.kill(victim), 0, takes_victim=True),
    Kind("added", lambda gateway, _, count: gateway.scale(count + 1), 1, takes_victim=False),
    Kind("drained", lambda gateway, victim, _: gateway.drain(victim), 1, takes_victim=True),
    Kind("removed", lambda gateway, _, count: gateway.scale(count), 0, takes_victim=False),
)


def settled(told: FleetStatus, count: int, without: str = "") -> bool:
    """Whether there are `count` workers, all serving, without this one, and all balancers know it.

    A balancer that has heard of one worker only would have none when that worker is killed.
    """
    names = {worker.name for worker in told.workers}
    return told.known and told.ready == len(names) == count and without not in names


def happen(gateway: Gateway, kind: Kind, count: int, began: float) -> Event:
    """Do it to the oldest worker, and wait until the fleet is whole again."""
    told = gateway.status()
    names = [worker.name for worker in told.workers] if told else []
    victim = names[0] if kind.takes_victim and names else ""
    now = time.monotonic()
    kind.do(gateway, victim, count)
    whole = gateway.wait_for(
        lambda told: settled(told, count + kind.more, victim), time.monotonic() + SETTLE
    )
    took = time.monotonic() - now if whole else None
    return Event(at=now - began, kind=kind.name, worker=victim, settled=took)
