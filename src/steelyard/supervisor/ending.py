"""Ending: how a gateway is stopped from outside, whether its supervisor is alive or not."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

from steelyard.config.settings import Settings
from steelyard.door import SETTLE
from steelyard.supervisor.child import Child
from steelyard.supervisor.legacy import Legacy, Orphan, find_legacy
from steelyard.supervisor.pidfile import PidFile, Pids, ServedError, places
from steelyard.supervisor.plan import agent_role

Say = Callable[[str], None]


async def end(settings: Settings, say: Say) -> bool:
    """Stop the gateway that these settings describe; False if there is none."""
    there = [folder for folder in places(settings) if (folder / "lock").exists()]
    for folder in there:
        await _end_one(folder, settings, say)
    return bool(there)


async def _end_one(folder: Path, settings: Settings, say: Say) -> None:
    try:
        pid_file = PidFile.open(folder)
    except ServedError as error:
        await _end_supervisor(error.pids, say)
    else:
        await _end_legacy(pid_file, settings, say)
        pid_file.close()


async def _end_supervisor(pids: Pids, say: Say) -> None:
    if pids.supervisor is None:
        return
    supervisor = Orphan(pids.supervisor)
    say(f"process {pids.supervisor.pid} serves {pids.listen}: it is told to stop")
    supervisor.send(signal.SIGTERM)
    await supervisor.ended()


async def _end_legacy(pid_file: PidFile, settings: Settings, say: Say) -> None:
    """Stop what a dead supervisor left, in its order: first the balancers, then the workers."""
    legacy = find_legacy(pid_file, settings, say)
    if len(legacy.balancers):
        say(f"the supervisor is gone; stopping its balancers: {len(legacy.balancers)}")
        await _end_balancers(legacy)
        say("the balancers have ended")
    if legacy.agent is not None:
        say("the agent is told to stop its workers")
        legacy.agent.send(signal.SIGTERM)
        await legacy.agent.ended()
    elif pid_file.folder == places(settings).up:
        await _end_workers(settings, say)


async def _end_balancers(legacy: Legacy) -> None:
    if legacy.port is not None:
        legacy.port.shut()
        await asyncio.sleep(SETTLE)
    legacy.balancers.stop()
    if legacy.port is not None:
        legacy.port.close()
    await legacy.balancers.ended()


async def _end_workers(settings: Settings, say: Say) -> None:
    """Start an agent only to stop the workers, because their own agent is gone, too."""
    agent = Child(agent_role(settings), say)
    agent.stop()
    agent.start(after=-signal.SIGKILL)
    await agent.ended()
