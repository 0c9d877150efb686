"""What TLS costs: the same requests plain and encrypted, and handshakes; ours beside nginx.

All four servers are up at once and asked in turn; only ratios of medians of one run count.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from steelyard.bench import machine, tools
from steelyard.bench.balancer import wrk
from steelyard.bench.balancer.backend import Backend
from steelyard.bench.balancer.cases import KIB, Case, Kind
from steelyard.bench.balancer.counts import parse_counts
from steelyard.bench.launch import Command, Launched, pinned
from steelyard.bench.ports import HOST, accepts, free_port
from steelyard.bench.proxies.nginx import nginx_command
from steelyard.bench.stats import median
from steelyard.bench.usage import cpu_of
from steelyard.bench.watcher import Watcher
from steelyard.errors import Fault, SteelyardError
from steelyard.python import module

OURS, NGINX = "steelyard", "nginx"
CASES = {
    "kept": Case("small", "small answers, connections kept"),
    "64k": Case("64k", "64 KiB answers, connections kept", size=64 * KIB),
    "fresh": Case("fresh", "a connection for each request", fields={"Connection": "close"}),
}
GRACE = 20  # seconds after which a client that takes too long is ended

_NGINX = """
  upstream backend {{ server {host}:{backend}; keepalive 256; keepalive_requests 1000000000; }}
  server {{
    listen {host}:{port} backlog=4096 {tls};
    location / {{
      proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme;
    }}
  }}
"""
_NGINX_TLS = "ssl; ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate {}; ssl_certificate_key {}"

# The extensions that `openssl verify -x509_strict` demands, and the name that a client asks for.
_EXTENSIONS = (
    "basicConstraints=critical,CA:TRUE",
    "keyUsage=critical,digitalSignature,keyCertSign",
    "subjectKeyIdentifier=hash",
    "authorityKeyIdentifier=keyid:always",
    f"subjectAltName=DNS:localhost,IP:{HOST}",
)


class ToolError(SteelyardError):
    """A program that the bench needs failed, or is not installed."""

    fault = Fault.MACHINE


class Cost(BaseModel):
    """CPU µs per request, user and system, of one server in one case: the median of the rounds."""

    server: str
    tls: bool
    case: str
    us: float
    errors: int


class Server(NamedTuple):
    """A running contender."""

    name: str
    tls: bool
    port: int
    pid: int


def measure(
    rounds: int,
    seconds: int,
    connections: int,
    watcher: Watcher,
    names: Collection[str] = tuple(CASES),
) -> list[Cost]:
    """Do one run."""
    for program in ("nginx", "openssl", "wrk"):
        if why := tools.why_missing(program):
            raise ToolError(why, hint=f"on Debian, as root: apt-get install {program}")
    cores = machine.choose_cores()
    taken: dict[tuple[str, bool, str], list[float]] = {}
    errors: dict[tuple[str, bool, str], int] = {}
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as place, ExitStack() as stack:
        folder = Path(place)
        servers = list(_start(stack, folder, cores))
        watcher.begin(rounds * len(names) * len(servers))
        for name, case in [(name, CASES[name]) for _ in range(rounds) for name in names]:
            words = wrk.words(case, 0, seconds, connections, folder)[:-1]
            for server in servers:
                watcher.tell(f"{case.title}: {server.name}")
                url = f"{'https' if server.tls else 'http'}://{HOST}:{server.port}{case.path}"
                cost, failed = _round(server, [*pinned(cores.rest), *words, url], seconds)
                key = (server.name, server.tls, name)
                taken.setdefault(key, []).append(cost)
                errors[key] = errors.get(key, 0) + failed
                watcher.step()
    return [
        Cost(server=server, tls=tls, case=case, us=median(costs) or 0.0, errors=errors[key])
        for key, costs in taken.items()
        for server, tls, case in [key]
    ]


def _start(stack: ExitStack, folder: Path, cores: machine.Cores) -> Iterator[Server]:
    home = folder / "backend"
    home.mkdir()
    backend = stack.enter_context(Backend(Kind.HTTP, home, cores.rest)).member.port
    made, key = certificate(folder)
    for name in (OURS, NGINX):
        for tls in (False, True):
            port, own = free_port(), folder / f"{name}-{tls}"
            own.mkdir()
            files = (made, key) if tls else None
            command = (_ours if name == OURS else _nginx)(port, backend, own, files)
            running = stack.enter_context(Launched(command, cores.proxy, own / "log"))
            running.wait_until(lambda port=port: accepts(port), name)  # type: ignore[misc]
            yield Server(name, tls, port, running.pid)


def _ours(port: int, backend: int, folder: Path, files: tuple[Path, Path] | None) -> Command:
    words = module("steelyard", "balancer", "--listen", f"{HOST}:{port}")
    words += ["--worker", f"{HOST}:{backend}", "--processes", "1", "--log-level", "error"]
    words += ["--state", str(folder)]
    if files is not None:
        words += ["--tls-cert", str(files[0]), "--tls-key", str(files[1])]
    return Command(words)


def _nginx(port: int, backend: int, folder: Path, files: tuple[Path, Path] | None) -> Command:
    tls = "" if files is None else _NGINX_TLS.format(*files)
    return nginx_command(folder, _NGINX.format(host=HOST, port=port, backend=backend, tls=tls))


def certificate(folder: Path) -> tuple[Path, Path]:
    """A self-signed certificate and its key. wrk does not check it, other clients may."""
    made, key = folder / "certificate.pem", folder / "key.pem"
    words = ["openssl", "req", "-x509", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    words += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    words += [word for extension in _EXTENSIONS for word in ("-addext", extension)]
    words += ["-out", str(made), "-keyout", str(key)]
    # The system's configuration would add its extensions a second time.
    env = {**os.environ, "OPENSSL_CONF": os.devnull}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise ToolError(f"openssl made no certificate: {done.stderr.strip()}")
    return made, key


def _round(server: Server, words: list[str], seconds: int) -> tuple[float, int]:
    before = cpu_of(server.pid)
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=seconds + GRACE, check=False
    )
    counts = parse_counts(done.stdout + done.stderr)
    spent = cpu_of(server.pid).since(before)
    return (spent.user + spent.system) * 1e6 / max(1, counts.requests), counts.errors
