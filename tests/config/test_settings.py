"""The settings as a whole."""

from __future__ import annotations

import pytest

from steelyard.config.settings import Application, Runtime, Scaling, Settings


def test_settings_survive_json():
    """Settings survive JSON, as which the supervisor passes them to its children."""
    settings = Settings(application=Application(command=("serve", "{port}")))
    assert Settings.model_validate_json(settings.model_dump_json()) == settings


@pytest.mark.parametrize("kind", ["docker", "swarm"])
def test_the_ports_of_processes_do_not_limit_containers(kind: str):
    """A container has a network of its own, in which every worker may have the same port."""
    containers = Runtime(kind=kind, image="x", port=80)
    assert Settings(runtime=containers, scaling=Scaling(max=9001)).scaling.max == 9001
    with pytest.raises(ValueError, match="a port for each worker"):
        Settings(scaling=Scaling(max=9001))
