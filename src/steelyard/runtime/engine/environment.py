"""The environment variables of a worker in a container."""

from __future__ import annotations

from steelyard.config import settings
from steelyard.runtime.engine.labels import Mark


def environment(application: settings.Application, mark: Mark) -> dict[str, str]:
    """The user's variables, and ours.

    STEELYARD_HOME is left out: a process runtime would take the container's processes for its own.
    HOST stands for every address of the container, as its loopback cannot be reached from outside.
    """
    return {
        "HOST": "0.0.0.0",
        **application.environment,
        "PORT": str(mark.port),
        "STEELYARD_APPLICATION": application.name,
        "STEELYARD_WORKER": mark.name,
    }
