"""Tests that start processes, report them, and hang; `tests/test_reaper.py` kills them.

The name of this file keeps it out of the suite.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from tests import reaper
from tests.balancer.peers.servers import nginx
from tests.docker.engine import Engine
from tests.e2e.gateway import Gateway
from tests.mesh.hosts import Hosts
from tests.redis_server import RedisServer


def tell(processes: Iterable[psutil.Process]) -> None:
    """Report these processes and their descendants, and the folder of the run."""
    whole = {child for one in processes for child in (one, *one.children(recursive=True))}
    told = {str(one.pid): Path(f"/proc/{one.pid}/cgroup").read_text() for one in whole}
    file = Path(os.environ["TELL"])
    part = file.with_suffix(".part")
    part.write_text(json.dumps({"processes": told, "run": str(reaper.folder())}))
    part.rename(file)


async def test_gateway(tmp_path: Path) -> None:
    """Start `up`, its parts, and workers in control groups."""
    gateway = Gateway(tmp_path / "home", "--min", "2", "--memory", "256M").start()
    await gateway.ready()
    assert gateway.process is not None
    tell([psutil.Process(gateway.process.pid), *gateway.workers()])
    await asyncio.sleep(1000)


async def test_orphans(tmp_path: Path) -> None:
    """Leave the workers of a killed `up`."""
    gateway = Gateway(tmp_path / "home", "--min", "2").start()
    await gateway.ready()
    gateway.signal(signal.SIGKILL)
    tell(gateway.workers())
    await asyncio.sleep(1000)


def test_engine(docker: Engine) -> None:
    """Start an engine, a container on a bridge, and all processes between them."""
    docker.ask("POST", "/networks/create", {"Name": "net", "Driver": "bridge"})
    name = docker.run("one", "sleep", "1000", HostConfig={"NetworkMode": "net"})
    inside = psutil.Process(docker.inspect(name)["State"]["Pid"])
    shim = inside.parents()[0]
    assert "shim" in shim.name()
    tell([*psutil.Process().children(), shim])
    time.sleep(1000)


def test_servers(tmp_path: Path) -> None:
    """Start programs that write a title over their environment, and namespaces."""
    with RedisServer(tmp_path), nginx(tmp_path), Hosts(1):
        tell(psutil.Process().children())
        time.sleep(1000)
