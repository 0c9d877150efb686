"""What a worker in a container finds in its environment."""

from __future__ import annotations

from steelyard.config import settings
from steelyard.runtime.engine.labels import Mark


def environment(application: settings.Application, mark: Mark) -> dict[str, str]:
    """The user's, and ours.

    Not STEELYARD_HOME: a process runtime would take the container's processes for its own. HOST is
    every address of the container: its loopback is reached from nowhere else.
    """
    return {
        "HOST": "0.0.0.0",
        **application.environment,
        "PORT": str(mark.port),
        "STEELYARD_APPLICATION": application.name,
        "STEELYARD_WORKER": mark.name,
    }
