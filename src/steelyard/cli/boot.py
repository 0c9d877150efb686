"""Shows how a fleet boots, and gives up when no worker can become ready."""

from __future__ import annotations

import asyncio
import time

from rich.console import Console

from steelyard.cli.client import AgentClient
from steelyard.cli.harmless import harmless
from steelyard.cli.serving import program_name, serving_line
from steelyard.config.settings import Settings
from steelyard.config.values import Address
from steelyard.core.status import FleetStatus
from steelyard.errors import Fault, SteelyardError, UsageError

HOPELESS = 3  # failed rounds of starts without any ready worker: the command is at fault
POLL = 0.1


class BootError(SteelyardError):
    """No worker ever became ready."""

    fault = Fault.APPLICATION


async def watch_boot(settings: Settings, address: Address, console: Console) -> None:
    """Show progress until the first workers are ready; raise BootError if they cannot become so."""
    client = AgentClient.of(settings)
    began = time.monotonic()
    with console.status("starting the agent …") as line:
        seen = ""
        while True:
            await asyncio.sleep(POLL)
            told = await _ask(client)
            if told is None:
                continue
            await _give_up_if_hopeless(told, client, time.monotonic() - began > settings.probe.boot)
            text = f"{told.ready} of {told.target} workers ready"
            line.update(f"{text} …")
            if text != seen and not console.is_terminal:
                console.print(text)
            seen = text
            if serves(told, settings.gateway.processes):
                break
    console.print(serving_line(settings, address, told.ready, program_name()), soft_wrap=True)


def serves(told: FleetStatus, balancers: int) -> bool:
    """Whether a request would be answered: workers are ready, and every balancer knows it.

    If some workers cannot be started, the fleet serves with the others.
    """
    version = told.queue_version
    linked = sum(one.connected and one.version >= version for one in told.balancers)
    enough = told.ready >= told.target or (told.ready > 0 and told.trouble != "")
    return enough and linked >= balancers


async def _ask(client: AgentClient) -> FleetStatus | None:
    try:
        return await asyncio.to_thread(client.status)
    except (SteelyardError, UsageError):
        return None  # the agent is still starting


async def _give_up_if_hopeless(told: FleetStatus, client: AgentClient, late: bool) -> None:
    if told.ever_ready or not told.trouble or (told.failures < HOPELESS and not late):
        return
    raise BootError(
        f"no worker became ready: {told.trouble}{await _last_words(client, told.culprit)}",
        hint="does the command run by itself, stay in the foreground, "
        "and listen on 127.0.0.1:{port} or $PORT?",
    )


async def _last_words(client: AgentClient, worker: str) -> str:
    try:
        text = await asyncio.to_thread(client.logs, worker, 15)
    except SteelyardError:
        return ""  # a worker that could not be started has no log
    lines = harmless(text).strip().splitlines() or ["(it printed nothing)"]
    return "".join(f"\n  | {line}" for line in lines)
