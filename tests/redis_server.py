"""A real Redis server of our own: loopback, a free port, nothing kept on disk."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from redis import Redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from tests import reaper
from tests.ports import free_port


class RedisServer:
    """One `redis-server`; after a restart it has the same port and no data."""

    def __init__(self, folder: Path, *flags: str, scheme: str = "redis") -> None:
        self.port = free_port()
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self._plain = scheme == "redis"
        self._folder = folder
        self._flags = flags
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        port = ["--port"] if self._plain else ["--port", "0", "--tls-port"]
        words = ["redis-server", "--bind", "127.0.0.1", "--dir", str(self._folder)]
        words += [*port, str(self.port)]
        words += ["--save", "", "--appendonly", "no", *self._flags]
        with (self._folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log)
        reaper.note(self._process.pid)
        self._wait()
        return self

    def stop(self) -> None:
        """Stop the server; its data is lost."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """Suspend the server: it keeps its connections, and answers nobody."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def ask(self, *words: str, password: str | None = None) -> Any:
        """Run one command, with the standard client."""
        retry = Retry(ConstantBackoff(0.05), 200)
        with Redis(port=self.port, password=password, decode_responses=True, retry=retry) as client:
            return client.execute_command(*words)

    def _wait(self) -> None:
        """Wait until the server accepts connections."""
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 5).close()
            except ConnectionRefusedError:
                time.sleep(0.01)
                assert self._process is not None
                assert self._process.poll() is None, (self._folder / "redis.log").read_text()
            else:
                return

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.stop()
