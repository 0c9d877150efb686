"""Reload: the configuration is read anew, and a generation of balancers that has it succeeds."""

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

KEPT = "the old configuration is served on"


class Reload:
    """Reloads, one after the other; those asked for during one are one more, of what is then."""

    def __init__(self, supervisor: Supervisor, load: Callable[[], Order]) -> None:
        self._supervisor = supervisor
        self._load = load
        self._asked = asyncio.Event()

    def ask(self) -> None:
        """Reload soon."""
        self._asked.set()

    async def run(self) -> None:
        """Until cancelled."""
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
            here.say(f"reloaded: serving on {url}; the old balancers finish")

    def _wanted(self) -> Order:
        """The order as it is now; what only a restart can change stays as it is, and is told of."""
        now = self._supervisor.settings
        order = self._same_metrics(self._load(), now.gateway)
        if self._supervisor.agent is None:
            return order
        if late := agents_keys(now, order.settings):
            self._supervisor.say(f"reload: only a restart gives the agent its {', '.join(late)}")
        part = {"gateway": order.settings.gateway, "log": order.settings.log}
        return Order(now.model_copy(update=part), order.source)

    def _same_metrics(self, order: Order, now: Gateway) -> Order:
        """What is scraped is counted from the start of the gateway, at one place."""
        wanted = order.settings.gateway
        if wanted.metrics == now.metrics:
            return order
        self._supervisor.say("reload: only a restart changes gateway.metrics")
        gateway = wanted.model_copy(update={"metrics": now.metrics})
        return Order(order.settings.model_copy(update={"gateway": gateway}), order.source)


async def patience() -> None:
    """Returns when a new generation has had its time to become ready."""
    await asyncio.sleep(PATIENCE)


def agents_keys(now: Settings, wanted: Settings) -> list[str]:
    """The keys that have changed and that balancers have no part in."""
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
