"""Runs the tests beside a Docker engine of the host, as `make test-beside-docker` does.

An engine as a distribution starts it, with its own bridge, forwarding and packet filter, drops all
forwarded packets that are not its own (`iptables -P FORWARD DROP`). Here it runs in namespaces, and
pytest runs in them, too: to the tests that is a machine with Docker, and this machine stays as it
is.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests import reaper
from tests.docker.engine import DOCKERD
from tests.docker.host import PATIENCE, EngineFailedError
from tests.docker.namespace import Namespace
from tests.waiting import wait_until

FORWARDING = "/proc/sys/net/ipv4/ip_forward"


def main(words: list[str]) -> int:
    """Run pytest with these arguments beside an engine; return its exit code."""
    host = Namespace("host")
    # The engine sets its policy only if it switches forwarding on itself.
    subprocess.run([*host.within(), "sh", "-c", f"echo 0 > {FORWARDING}"], check=True)
    engine = start(host, reaper.folder() / "host")
    policy = subprocess.run(
        [*host.within(), "iptables", "-S", "FORWARD"], capture_output=True, text=True, check=True
    ).stdout.splitlines()[0]
    if policy != "-P FORWARD DROP":
        raise EngineFailedError(f"the engine left the packet filter at {policy}")
    sys.stderr.write(f"beside a Docker engine, process {engine.pid}: {policy}\n")
    command = [sys.executable, "-m", "pytest", *words]
    return subprocess.run([*host.within(), "env", f"--chdir={Path.cwd()}", *command]).returncode


def start(host: Namespace, folder: Path) -> subprocess.Popen[bytes]:
    """Start an engine, and return when it answers."""
    folder.mkdir()
    command = [DOCKERD, "--host", f"unix://{folder}/socket", "--pidfile", f"{folder}/pid"]
    command += ["--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec"]
    # the engine holds no image, and this driver works anywhere
    command += ["--storage-driver", "vfs"]
    log = folder / "log"
    with log.open("wb") as output:
        engine = subprocess.Popen(
            [*host.within(), *command], stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    wait_until(lambda: b"API listen on" in log.read_bytes() or engine.poll() is not None, PATIENCE)
    if engine.poll() is not None:
        raise EngineFailedError(f"dockerd did not start\n{log.read_text()}")
    return engine


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
