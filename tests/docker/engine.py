"""A Docker engine for tests: a `dockerd` of our own, which leaves the machine as it was.

Its socket, data, state and containerd are in a folder of its own, and its mounts and bridges in
namespaces of its own: the packet filter of this machine, in which another Docker engine may drop
all forwarded packets, does not affect them. A test enters that namespace, and finds published ports
on loopback, where the userland proxy listens. The engine changes neither the firewall nor IP
forwarding.

No image is pulled or built: the base image is a handful of symbolic links, and containers see the
machine's own /usr, read-only (`MOUNTS`). So they have a shell, Python and everything that is
installed for the tests.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from tests import reaper
from tests.docker.host import PATH, PATIENCE, EngineFailedError, KernelLacksError
from tests.docker.namespace import IP, Namespace

BASE = "steelyard-test:base"
LINKS = ("bin", "lib", "lib64")
POOL = "base=10.213.0.0/16,size=24"
PLAIN = ("--iptables=false", "--ip-masq=false")
# Containers outlive their engine. Published ports lead to them by rules of the kernel, in the
# engine's namespace: the userland proxy is a child of the engine, and ends with it.
LIVE = ("--live-restore", "--userland-proxy=false")
DRIVERS = ("overlay2", "vfs")  # the second driver works on any file system
VERSION = "v1.41"


def _mounts() -> tuple[str, ...]:
    """The system, this Python and this source, at their own paths, read-only."""
    folders = {Path("/usr"), Path(sys.prefix), Path(sys.base_prefix), Path.cwd() / "src"}
    folders |= {Path("/", name) for name in LINKS if not Path("/", name).is_symlink()}
    found = {folder for folder in folders if folder.is_dir()}
    inner = {one for one in found if any(one.is_relative_to(other) for other in found - {one})}
    return tuple(f"{folder}:{folder}:ro" for folder in sorted(found - inner))


MOUNTS = _mounts()
DOCKERD = shutil.which("dockerd", path=PATH) or ""


class Engine:
    """One running dockerd."""

    def __init__(self, driver: str, network: Namespace, flags: Sequence[str] = PLAIN) -> None:
        self.driver = driver
        self.flags = flags
        self.network = network
        self.folder = Path(tempfile.mkdtemp(prefix="dockerd-", dir=reaper.folder()))
        # Containerd refuses a name that ends in an underscore, as the name of a temporary folder
        # may.
        self._namespace = f"steelyard-{secrets.token_hex(8)}"
        self.socket = self.folder / "docker.sock"
        self.url = f"unix://{self.socket}"
        self.log = self.folder / "log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the engine, and return when it answers; it keeps the data of an earlier start."""
        words = [
            *self.network.within(), DOCKERD, "--host", self.url, "--bridge", "none",
            "--data-root", str(self.folder / "data"), "--exec-root", str(self.folder / "exec"),
            "--pidfile", str(self.folder / "pid"), "--storage-driver", self.driver,
            "--default-address-pool", POOL, "--ip6tables=false", "--ip-forward=false",
            "--shutdown-timeout", "3", *self.flags,
            "--containerd-namespace", self._namespace,
            "--containerd-plugins-namespace", f"{self._namespace}-plugins",
        ]  # fmt: skip
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "PATH": PATH},
                start_new_session=True,
            )
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise EngineFailedError(
                    f"dockerd did not start ({self.driver})\n{self.last_words()}"
                )
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop the engine; containers that still run end with it."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def kill(self) -> None:
        """Kill the engine at once; its containers go on, and only the next start knows of them.

        Its containerd ends with it, but may stay a zombie if process 1 does not reap it at once.
        The next dockerd checks only the pid, and would take the zombie for a running containerd.
        """
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        (self.folder / "exec" / "containerd" / "containerd.pid").unlink(missing_ok=True)

    def freeze(self) -> None:
        """Suspend the engine: its socket accepts connections, but nobody answers."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _end_shims(self) -> None:
        """Kill containers that outlived the engine, each with the shim that is its parent."""
        for shim in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                words = shim.cmdline()
                if "shim" in "".join(words[:1]) and any(str(self.folder) in word for word in words):
                    for process in [*shim.children(recursive=True), shim]:
                        with contextlib.suppress(psutil.NoSuchProcess):  # it ended with its parent
                            process.kill()

    def destroy(self) -> None:
        """Stop the engine and delete all its data, its network included."""
        self.stop()
        self._end_shims()
        self.network.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def last_words(self) -> str:
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-25:])

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to the engine without the code under test; return its answer."""
        raw = isinstance(body, bytes)
        headers = {"Content-Type": "application/x-tar" if raw else "application/json"}
        wire = _Connection(self.socket)
        try:
            sent = body if raw or body is None else json.dumps(body)
            wire.request(method, f"/{VERSION}{path}", sent, headers)
            answer = wire.getresponse()
            text = answer.read().decode()
        finally:
            wire.close()
        if answer.status >= 400:
            raise EngineFailedError(f"{method} {path}: {answer.status} {text}")
        try:
            return json.loads(text) if text else None
        except ValueError:
            return text  # a stream of progress, or plain text

    def things(self) -> dict[str, list[str]]:
        """The names of all objects that a test could leave behind."""
        containers = self.ask("GET", "/containers/json?all=1")
        return {
            "containers": sorted(one["Names"][0] for one in containers),
            "networks": sorted(one["Name"] for one in self.ask("GET", "/networks")),
            "volumes": sorted(one["Name"] for one in self.ask("GET", "/volumes")["Volumes"] or []),
            "services": sorted(one["Spec"]["Name"] for one in self.services()),
        }

    def services(self) -> list[Any]:
        """The services of the engine's swarm; none if the engine manages no swarm."""
        manages = self.ask("GET", "/info")["Swarm"]["ControlAvailable"]
        return list(self.ask("GET", "/services")) if manages else []

    def inspect(self, name: str) -> Any:
        return self.ask("GET", f"/containers/{name}/json")

    def run(self, name: str, *command: str, **wish: Any) -> str:
        """Run a container that is not ours; return its id."""
        host = {"Binds": list(MOUNTS), "Init": True, **wish.pop("HostConfig", {})}
        wish = {"Image": BASE, "Cmd": list(command), "HostConfig": host, **wish}
        made = self.ask("POST", f"/containers/create?name={name}", wish)["Id"]
        self.ask("POST", f"/containers/{made}/start")
        return str(made)

    def remove(self, name: str) -> None:
        self.ask("DELETE", f"/containers/{name}?force=1&v=1")

    def load_base(self) -> None:
        """Make the base image, and check that a container of it runs."""
        self.ask("POST", "/images/create?fromSrc=-&repo=steelyard-test&tag=base", base_layer())
        self.run("trial", sys.executable, "-c", "pass", HostConfig={"NetworkMode": "none"})
        code = self.ask("POST", "/containers/trial/wait")["StatusCode"]
        self.remove("trial")
        if code != 0:
            raise EngineFailedError(f"a container ended with {code}\n{self.last_words()}")

    def _answers(self) -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            return bool(self.ask("GET", "/_ping") == "OK")
        return False


class _Connection(http.client.HTTPConnection):
    """HTTP over the engine's socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=60)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def base_layer() -> bytes:
    """The base image's only layer, as a tar file."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name in LINKS:
            if Path("/", name).is_symlink():
                link = tarfile.TarInfo(name)
                link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
                tar.addfile(link)
        for name, mode in (
            ("sbin", 0o755),
            ("tmp", 0o1777),
        ):  # sbin: the engine puts its init there
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            tar.addfile(folder)
    return file.getvalue()


@contextlib.contextmanager
def private_engine(flags: Sequence[str] = PLAIN) -> Iterator[Engine]:
    """An engine with the base image, using the first storage driver that works here."""
    require_kernel()
    failures = []
    for driver in DRIVERS:
        engine = Engine(driver, Namespace("engine"), flags)
        try:
            engine.start()
            engine.load_base()
        except EngineFailedError as failure:
            failures.append(str(failure))
            engine.destroy()
            continue
        try:
            yield engine
        finally:
            engine.destroy()
        return
    raise EngineFailedError("\n\n".join(failures))


def can_start() -> bool:
    return bool(DOCKERD and IP) and os.geteuid() == 0


def require_kernel() -> None:
    """Raise unless we can make namespaces and mount in them, as any container needs."""
    space = ["unshare", "--mount", "--net", "--pid", "--fork"]
    done = subprocess.run([*space, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True)
    if done.returncode != 0:
        raise KernelLacksError(f"no containers here: {done.stderr.decode().strip()}")
