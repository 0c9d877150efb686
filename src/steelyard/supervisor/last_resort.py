"""Last resort: the supervisor itself kills the workers, as no agent lived long enough to do so.

On an overloaded machine an agent may not even start within the time that it has after a second
Ctrl-C. The supervisor runs already, and only needs to look at the list of processes.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from steelyard.config.settings import Settings
from steelyard.errors import SteelyardError

PATIENCE = 10.0  # seconds; a process in the middle of a system call may outlive its SIGKILL


async def kill_workers(settings: Settings, say: Callable[[str], None]) -> None:
    """Kill the workers that are left, if they are processes and no other agent may lead them."""
    left = "the next `steelyard up` finds the workers that are left"
    alone = settings.agent.lease == 0 and settings.agent.on_stop == "stop"
    if settings.runtime.kind != "process" or not alone:
        say(f"no agent could stop the workers: {left}")
        return
    try:
        async with asyncio.timeout(PATIENCE):
            names = await _kill(settings)
    except (SteelyardError, OSError) as error:  # a time-out is an OSError
        say(f"the workers could not be killed ({str(error) or 'it took too long'}): {left}")
    else:
        say(f"no agent could stop the workers, so they were killed: {', '.join(names) or 'none'}")


async def _kill(settings: Settings) -> list[str]:
    from steelyard.runtime.process import ProcessRuntime

    runtime = ProcessRuntime(
        settings.application, settings.runtime, settings.folder, random.Random()
    )
    await runtime.open()
    try:
        names = [worker.name for worker in await runtime.running()]
        await asyncio.gather(*(runtime.stop(name, 0) for name in names))
    finally:
        await runtime.close()
    return names
