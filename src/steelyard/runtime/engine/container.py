"""One container of an engine: its signals, the settings of its log, the reason of its end."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Mapping
from typing import Any

import aiohttp
from aiodocker import Docker
from aiodocker.exceptions import DockerError

# Docker's default log driver keeps everything that a worker ever printed. `local` rotates, and can
# be read back.
LOG_DRIVER = "local"
LOG_OPTIONS = {"max-size": "10m", "max-file": "3"}
# The image's own health check is switched off: the agent probes workers itself, and decides. A
# swarm would resolve the worker's name only after the first check (30 s, unless the image says
# otherwise), and would end a worker that fails the check, with its requests.
UNCHECKED = {"Test": ["NONE"]}
_NOT_RUNNING = {404, 409}  # the engine's answers to a signal for a container that has ended


async def send(client: Docker, id: str, name: str) -> None:  # noqa: A002
    """Send a signal, unless the container has ended."""
    try:
        await client.containers.container(id).kill(signal=name)
    except DockerError as error:
        if error.status not in _NOT_RUNNING:
            raise


async def remove(client: Docker, id: str) -> None:  # noqa: A002
    """Remove a container with its anonymous volumes, running or not, if it still exists.

    If that fails, `running` finds the remains later.
    """
    with contextlib.suppress(DockerError, aiohttp.ClientError, OSError):
        await client.containers.container(id).delete(force=True, v=True)


def stop_signal(shown: Mapping[str, Any]) -> str:
    """The signal that stops a container of this image."""
    return shown["Config"].get("StopSignal") or "SIGTERM"


def end_reason(state: Mapping[str, Any]) -> str:
    """Why the container ended, from the engine's record of its state."""
    code = state["ExitCode"]
    if state.get("Error"):
        return f"exit code {code}: {state['Error']}"
    return f"{code_reason(code)} (out of memory)" if state.get("OOMKilled") else code_reason(code)


def code_reason(code: int) -> str:
    """Explain an exit code; as in a shell, 128 + n stands for signal n."""
    with contextlib.suppress(ValueError):
        return f"killed by {signal.Signals(code - 128).name}"
    return f"exit code {code}"
