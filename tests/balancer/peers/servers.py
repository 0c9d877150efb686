"""Real servers as workers, each on a port of its own."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests import reaper
from tests.balancer.stage import PATIENCE, until
from tests.ports import free_port

APP = "tests.balancer.peers.app"
ROOT = Path(__file__).parents[3]

NGINX = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/log;
events {{ worker_connections 64; }}
http {{
  access_log off; client_max_body_size 0;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port};
    location / {{ root {folder}/shelf; dav_methods PUT; create_full_put_path on; }}
  }}
}}
"""


@contextlib.contextmanager
def _child(command: list[str], log: Path, fds: tuple[int, ...] = ()) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out, pass_fds=fds)
        reaper.note(process.pid)
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            finally:
                process.kill()


@contextlib.contextmanager
def _python(folder: Path, *command: str) -> Iterator[int]:
    """A Python server that inherits its socket: clients wait in the backlog until it is up."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        fd = str(sock.fileno())
        filled = [sys.executable, "-m", *(part.replace("FD", fd) for part in command)]
        with _child(filled, folder / "out", (sock.fileno(),)):
            yield sock.getsockname()[1]


@contextlib.contextmanager
def uvicorn(folder: Path) -> Iterator[int]:
    """Uvicorn with h11, its parser when it is installed without extras."""
    with _python(folder, "uvicorn", "--http", "h11", "--fd", "FD", f"{APP}:asgi") as port:
        yield port


@contextlib.contextmanager
def httptools(folder: Path) -> Iterator[int]:
    """Uvicorn with httptools, its usual parser in production."""
    with _python(folder, "uvicorn", "--http", "httptools", "--fd", "FD", f"{APP}:asgi") as port:
        yield port


@contextlib.contextmanager
def gunicorn(folder: Path) -> Iterator[int]:
    """Gunicorn with threads, so that connections are kept open."""
    options = ("--threads", "4", "--worker-tmp-dir", str(folder), "--no-control-socket")
    with _python(folder, "gunicorn", "--bind", "fd://FD", *options, f"{APP}:wsgi") as port:
        yield port


@contextlib.contextmanager
def nginx(folder: Path) -> Iterator[int]:
    """Nginx, which stores the body of a PUT in a file."""
    port = free_port()
    (folder / "shelf").mkdir()
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, port=port))
    with _child(["nginx", "-e", str(folder / "log"), "-c", str(config)], folder / "out"):
        until(lambda: _answers(port))
        yield port


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
