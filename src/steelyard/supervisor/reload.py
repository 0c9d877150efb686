"""Reload: reads the configuration anew, and lets new balancers that have it take over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from steelyard.config.keys import every_key
from steelyard.config.settings import Gateway, Settings
from steelyard.errors import SteelyardError
from steelyard.supervisor.plan import Order
from steelyard.supervisor.succession import PATIENCE, port_for, succeed

if TYPE_CHECKING:
    from steelyard.supervisor.supervise import Supervisor

KEPT = "the old configuration stays in force"


class Reload:
    """Reloads, one after the other.

    All requests that come during a reload lead to one more, with the configuration at that time.
    """

    def __init__(self, supervisor: Supervisor, load: Callable[[], Order]) -> None:
        self._supervisor = supervisor
        self._load = load
        self._asked = asyncio.Event()

    def ask(self) -> None:
        """Ask for a reload."""
        self._asked.set()

    async def run(self) -> None:
        """Carry out the reloads that are asked for, until cancelled."""
        notify, say = self._supervisor.notify, self._supervisor.say
        await self._supervisor.announced.wait()
        while True:
            await self._asked.wait()
            self._asked.clear()
            notify.reloading()
            try:
                await self._take_over(self._wanted())
            except SteelyardError as error:
                say(f"reload: {error}\n  {KEPT}")
            notify.ready()

    async def _take_over(self, order: Order) -> None:
        here = self._supervisor
        port = port_for(order.settings.gateway, here.port)
        if reason := await succeed(here, order, port, patience):
            here.say(f"reload: {reason}; {KEPT}")
        else:
            url = f"{order.settings.gateway.scheme}://{here.port.address}"
            here.say(f"reloaded: serving on {url}; the old balancers finish their exchanges")

    def _wanted(self) -> Order:
        """The order by the new configuration, except for keys that only a restart can change.

        A message names those keys.
        """
        now = self._supervisor.settings
        order = self._same_metrics(self._load(), now.gateway)
        if self._supervisor.agent is None:
            return order
        if late := agents_keys(now, order.settings):
            self._supervisor.say(f"reload: only a restart changes the agent's {', '.join(late)}")
        part = {"gateway": order.settings.gateway, "log": order.settings.log}
        return Order(now.model_copy(update=part), order.source)

    def _same_metrics(self, order: Order, now: Gateway) -> Order:
        """Keep `gateway.metrics`: metrics count from the start of the gateway, at one address."""
        wanted = order.settings.gateway
        if wanted.metrics == now.metrics:
            return order
        self._supervisor.say("reload: only a restart changes gateway.metrics")
        gateway = wanted.model_copy(update={"metrics": now.metrics})
        return Order(order.settings.model_copy(update={"gateway": gateway}), order.source)


async def patience() -> None:
    """Return when the time for a new generation to become ready is over."""
    await asyncio.sleep(PATIENCE)


def agents_keys(now: Settings, wanted: Settings) -> list[str]:
    """The changed keys that concern the agent, and so need a restart."""
    return [
        key.dotted
        for key in every_key()
        if key.section != "gateway" and _value(now, key.dotted) != _value(wanted, key.dotted)
    ]


def _value(settings: Settings, dotted: str) -> object:
    value: object = settings
    for name in dotted.split("."):
        value = getattr(value, name)
    return value
