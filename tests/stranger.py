"""A server of another user of the machine, which records what it receives."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534

# The program gives up root by itself, since another user may be unable to read this user's Python.
# The first line has its port; then each connection is a line, and so is each text received.
_SERVER = """
import os, socket, sys
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", server.getsockname()[1], flush=True)
while True:
    connection, _ = server.accept()
    print("connected", flush=True)
    print("got", connection.recv(65536), flush=True)
    try:
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 6\\r\\n\\r\\nstolen")
    except OSError:
        pass
    connection.close()
"""


class Stranger:
    """One server of another user."""

    def __init__(self, log: Path, pid: int) -> None:
        self._log = log
        self.pid = pid

    @property
    def lines(self) -> list[str]:
        """What the server has recorded since it began to listen."""
        return self._log.read_text().splitlines()[1:]

    @property
    def port(self) -> int:
        return int(self._log.read_text().split()[1])


@contextmanager
def stranger(log: Path, port: int = 0, user: int = NOBODY) -> Iterator[Stranger]:
    """Run a server of another user on a port; only root can start one."""
    words = [sys.executable, "-c", _SERVER, str(port), str(user)]
    with (
        log.open("wb") as output,
        subprocess.Popen(words, stdout=output, start_new_session=True) as process,
    ):
        try:
            while not log.read_bytes().endswith(b"\n"):
                assert process.poll() is None, "the stranger could not listen"
            yield Stranger(log, process.pid)
        finally:
            process.kill()
