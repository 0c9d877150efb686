"""`python -m steelyard.health`: whether every listening port of this container accepts connections.

This is the image's health check, the same for every part. It needs no configuration, since a
container has a network of its own. It sends no request, as a balancer would forward it to a worker.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LISTENING = "0A"
# 127.0.0.11 as the kernel writes it: Docker's resolver, in every container
_ENGINE_DNS = "0B00007F"
_PATIENCE = 2.0


def listening(table: str) -> Iterator[int]:
    """The listening ports in a table of the kernel, without that of the engine's resolver."""
    for line in table.splitlines()[1:]:
        _, local, _, state, *_ = line.split()
        host, port = local.split(":")
        if state == _LISTENING and host != _ENGINE_DNS:
            yield int(port, 16)


def main() -> int:
    ports = {port for path in TABLES if path.exists() for port in listening(path.read_text())}
    if not ports:
        sys.stderr.write("no port is listening\n")
    for port in sorted(ports):
        try:
            socket.create_connection(("localhost", port), _PATIENCE).close()
        except OSError as error:
            sys.stderr.write(f"port {port}: {error}\n")
            return 1
    return 0 if ports else 1


if __name__ == "__main__":
    sys.exit(main())
