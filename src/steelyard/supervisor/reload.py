"""Reload: the next generation of balancers takes over the port, and no client notices.

    load ──► bind ──► start, held ──► all ready ──► let go ──► the old ones drain
      │        │                         │
      └────────┴──── what is wrong ──────┴──► said, and everything stays as it was

Both generations hold the same listening sockets, so at every moment somebody accepts, and what
waits in a queue is served by either. Until the new ones are let go they have taken no client: to
give them up then costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from steelyard.config.keys import every_key
from steelyard.config.settings import Gateway, Settings
from steelyard.door import SETTLE
from steelyard.errors import SteelyardError
from steelyard.supervisor.generation import Generation
from steelyard.supervisor.plan import Order
from steelyard.supervisor.port import Port

if TYPE_CHECKING:
    from steelyard.supervisor.supervise import Supervisor

PATIENCE = 30.0  # seconds for a new generation to become ready
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

    async def _take_over(self, order: Order) -> None:
        here, gateway = self._supervisor, order.settings.gateway
        before = here.port
        port = before if before.serves(gateway.listen) else _other(gateway, before)
        new = here.breed(order, port)
        here.generations.append(new)
        new.start()
        if reason := await self._hindrance(new):
            new.stop()
            await new.ended()
            here.generations.remove(new)
            port.forget_unopened()
            here.say(f"reload: {reason}; {KEPT}")
            return
        port.open(gateway.backlog)
        new.go()
        old, here.generation, here.port = here.generation, new, port
        here.look_after(new)
        await here.serving()
        if port is not before:
            before.shut()
            await asyncio.sleep(SETTLE)
        old.replace()
        if port is not before:
            before.close()
        here.go_on(self._see_off(old))
        url = f"{gateway.scheme}://{port.address}"
        here.say(f"reloaded: serving on {url}; the old balancers finish")

    async def _hindrance(self, new: Generation) -> str:
        """Why the new ones cannot take over; nothing when they can."""
        ready = asyncio.create_task(new.ready())
        gave_up = asyncio.create_task(new.gave_up())
        try:
            await asyncio.wait(
                {ready, gave_up}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            ready.cancel()
            gave_up.cancel()
        if gave_up.done():
            return f"{gave_up.result().role.name} cannot be started"
        return "" if ready.done() else f"the new balancers are not ready after {PATIENCE:g} s"

    async def _see_off(self, old: Generation) -> None:
        await old.ended()
        self._supervisor.generations.remove(old)
        self._supervisor.say("the old balancers have ended")


def _other(gateway: Gateway, beside: Port) -> Port:
    return Port.bind(gateway.listen, gateway.processes, beside=beside)


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
