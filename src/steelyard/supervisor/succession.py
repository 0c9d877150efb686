"""Succession: the next generation of balancers takes over the port, and no client notices.

    bind ──► start, held ──► all ready ──► let serve ──► the old balancers drain
      │                         │
      └──────── an error ───────┴──► a message, and everything stays as it was

Both generations hold the same listening sockets, so at every moment one of them accepts, and either
serves the clients in the accept queue. The new balancers take no client before they are let serve:
until then, giving them up costs nothing.

The old balancers may be those of this supervisor (reload) or of one that was killed (legacy).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from steelyard.config.settings import Gateway
from steelyard.door import SETTLE
from steelyard.supervisor.generation import Generation
from steelyard.supervisor.plan import Order
from steelyard.supervisor.port import Port

if TYPE_CHECKING:
    from steelyard.supervisor.legacy import Orphans
    from steelyard.supervisor.supervise import Supervisor

PATIENCE = 30.0  # seconds for a new generation to become ready at a reload

Patience = Callable[[], Coroutine[Any, Any, object]]


async def succeed(here: Supervisor, order: Order, port: Port, patience: Patience) -> str:
    """Let a new generation serve the port in place of the present one.

    Returns why it cannot, or an empty string. The new generation is given up when `patience`
    returns before it is ready.
    """
    before = here.port
    new = here.breed(order, port, held=True)
    here.generations.append(new)
    new.start()
    if reason := await _hindrance(new, patience):
        new.stop()
        await new.ended()
        here.generations.remove(new)
        port.forget_unopened()
        return reason
    port.open(order.settings.gateway.backlog)
    new.go()
    old, here.generation, here.port = here.generation, new, port
    here.note_port()
    here.look_after(new)
    await here.unless_over(new.serving())
    if port is not before:
        before.shut()
        await asyncio.sleep(SETTLE)
    old.replace()
    if port is not before:
        before.close()
    here.go_on(_see_off(here, old))
    return ""


def port_for(gateway: Gateway, before: Port) -> Port:
    """The present port, or a new one if another address is configured."""
    if before.serves(gateway.listen):
        return before
    return Port.bind(gateway.listen, gateway.processes, beside=before)


async def for_ever() -> None:
    """A patience that never returns."""
    await asyncio.Event().wait()


async def _hindrance(new: Generation, patience: Patience) -> str:
    """Why the new balancers cannot take over; empty if they can."""
    ready = asyncio.create_task(new.ready())
    gave_up = asyncio.create_task(new.gave_up())
    late = asyncio.create_task(patience())
    try:
        await asyncio.wait({ready, gave_up, late}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ready.cancel()
        gave_up.cancel()
        late.cancel()
    if gave_up.done():
        return f"{gave_up.result().role.name} cannot be started"
    return "" if ready.done() else f"the new balancers are not ready after {PATIENCE:g} s"


async def _see_off(here: Supervisor, old: Generation | Orphans) -> None:
    await old.ended()
    here.generations.remove(old)
    here.say("the old balancers have ended")
