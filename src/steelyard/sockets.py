"""Listening sockets, and a clear word when an address cannot be had."""

from __future__ import annotations

import errno
import socket

from steelyard.config.values import Address
from steelyard.errors import Fault, SteelyardError


class ListenError(SteelyardError):
    """An address cannot be listened on."""

    fault = Fault.MACHINE


class InUseError(ListenError):
    """Somebody else has it, who may leave: a gateway whose agent came back late serves on."""

    retry = True


def listen(address: Address, backlog: int, flag: str) -> socket.socket:
    """A listening socket that is ours alone."""
    return _open(address, flag, shared=False, backlog=backlog)


def bind_many(address: Address, count: int, flag: str) -> list[socket.socket]:
    """One socket per process, all on one address (SO_REUSEPORT); none of them listens yet.

    Whoever calls this keeps them open: connections that wait on the socket of a process that
    was killed are then served by its successor instead of being reset.
    """
    first = _open(address, flag, shared=True)
    settled = Address(address.host, first.getsockname()[1])
    return [first, *(_open(settled, flag, shared=True) for _ in range(count - 1))]


def open_up(sock: socket.socket, backlog: int) -> None:
    """Have a socket of `bind_many` listen."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # for who is bound here after us
    sock.listen(backlog)


def ensure_free(address: Address, flag: str) -> None:
    """SO_REUSEPORT would quietly share the port with a stranger of the same user, so ask first."""
    if address.port:
        listen(address, 1, flag).close()


def _open(
    address: Address, flag: str, *, shared: bool, backlog: int | None = None
) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.bind((address.host, address.port))
        if shared:
            _claim(sock)
        if backlog is not None:
            sock.listen(backlog)
    except (OSError, OverflowError) as error:
        sock.close()
        raise _explain(error, address, flag) from error
    return sock


def _claim(sock: socket.socket) -> None:
    """Have `ensure_free` find an address that is bound, though nobody listens there yet.

    To Linux, sockets with SO_REUSEADDR on both sides are in each other's way only when one of them
    listens (inet_bind_conflict). A reload holds its new address like this until its balancers are
    ready: a second gateway that came meanwhile would share the port with it.
    """
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)


def _explain(error: OSError | OverflowError, address: Address, flag: str) -> ListenError:
    code = getattr(error, "errno", None)
    if code == errno.EADDRINUSE:
        return InUseError(
            f"{address} is in use by another program",
            hint=f"choose another with {flag} HOST:PORT; `ss -ltnp` shows who listens",
        )
    if code == errno.EACCES:
        return ListenError(
            f"{address} needs more rights", hint=f"choose a port above 1023 with {flag}"
        )
    return ListenError(f"{address} cannot be listened on: {error}", hint=f"see {flag}")
