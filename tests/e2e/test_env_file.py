"""`steelyard up --env-file .env`, with a file written for RustyBalancer."""

from __future__ import annotations

import json

import pytest

from tests.docker.engine import BASE, MOUNTS
from tests.e2e.containers import DEMO
from tests.e2e.test_starting import (
    begin,  # noqa: F401 - a fixture
    fleet,  # noqa: F401 - a fixture
)

FILE = """\
DOCKER_HOST={engine}
DOCKER_IMAGE={image}
TARGET_PORT=8000
DEFAULT_CONTAINER=1
MAX_CONTAINERS=2
APP_IDENTIFIER=RUSTYBALANCER
HOST_PORT_HTTP_BALANCER={port}
HOST_PORT_HTTP_DEPLOYMENT_AGENT={agent_port}
HIGH_LOAD_THRESHOLD=55.0
SCALE_CHECK_PERIOD=10
STEELYARD_RUNTIME_VOLUMES='{mounts}'
"""


@pytest.mark.needs("docker")
async def test_a_file_is_all_that_it_needs(begin, fleet, docker, tmp_path, monkeypatch):  # noqa: F811
    """The engine, the image and both ports come from the file; each line's meaning is printed."""
    monkeypatch.delenv("DOCKER_HOST")
    ports = {"port": fleet.port, "agent_port": fleet.agent_port}
    text = FILE.format(engine=docker.url, image=BASE, mounts=json.dumps(MOUNTS), **ports)
    (tmp_path / ".env").write_text(text)
    up = begin("up", "--env-file", str(tmp_path / ".env"), "--state", str(fleet.home), "--", *DEMO)
    await up.says("→ scaling.high = 45 (as utilization: 100 − score)")
    await up.says("→ not used: every agent.tick is a check")
    told = await fleet.ready(1)
    assert (told.application, told.min, told.max) == ("rustybalancer", 1, 2)
    assert fleet.get("/whoami")["worker"] == told.workers[0].name
    assert up.stop() == 0
