"""A mesh in place of a ProcessPoolExecutor: for programs that know `concurrent.futures`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from typing import Any

from steelyard.mesh.client import Client


class MeshExecutor(Executor):
    """Runs functions, by their names, in the children of all nodes."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._futures: set[Future[Any]] = set()
        self._shut = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call, as in the standard library."""
        if self._shut:
            # The words of the standard library.
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = self._client.submit(fn, *args, **kwargs)
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut down, as in the standard library, except that `cancel_futures` also stops units that
        run.

        The client stays open: it belongs to the caller.
        """
        self._shut = True
        futures = list(self._futures)
        if cancel_futures:
            for future in futures:
                future.cancel()
        if wait:
            for future in futures:
                with suppress(CancelledError):
                    future.exception()
