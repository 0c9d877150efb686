"""One container of the engine that we talk to: its signals, its last words, its end."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Mapping
from typing import Any

import aiohttp
from aiodocker import Docker
from aiodocker.exceptions import DockerError

KEPT_LINES = 1000  # of an ended worker's log
# Docker's own default keeps all a worker ever printed. `local` reads back, and rotates.
LOG_DRIVER = "local"
LOG_OPTIONS = {"max-size": "10m", "max-file": "3"}
# The image's own health check is not run: the agent probes workers itself, and decides. A swarm
# would wait for the check before it names the worker (the first one comes after 30 s, unless the
# image says otherwise), and end a worker that fails it, with its requests.
UNCHECKED = {"Test": ["NONE"]}
_NOT_RUNNING = {404, 409}  # the engine's answers to a signal for a container that has ended


async def send(client: Docker, id: str, name: str) -> None:  # noqa: A002
    """Send a signal; one that has ended needs none."""
    try:
        await client.containers.container(id).kill(signal=name)
    except DockerError as error:
        if error.status not in _NOT_RUNNING:
            raise


async def remove(client: Docker, id: str) -> None:  # noqa: A002
    """Remove a container with its anonymous volumes, running or not; one that is gone is removed.

    Where that fails, `running` finds the remains later.
    """
    with contextlib.suppress(DockerError, aiohttp.ClientError, OSError):
        await client.containers.container(id).delete(force=True, v=True)


def stop_signal(shown: Mapping[str, Any]) -> str:
    """The signal by which the image wants to be stopped."""
    return shown["Config"].get("StopSignal") or "SIGTERM"


def end_reason(state: Mapping[str, Any]) -> str:
    """Why it ended, from the engine's record."""
    code = state["ExitCode"]
    if state.get("Error"):
        return f"exit code {code}: {state['Error']}"
    return f"{code_reason(code)} (out of memory)" if state.get("OOMKilled") else code_reason(code)


def code_reason(code: int) -> str:
    """What an exit code says; a shell's 128 + n stands for signal n here, too."""
    with contextlib.suppress(ValueError):
        return f"killed by {signal.Signals(code - 128).name}"
    return f"exit code {code}"
