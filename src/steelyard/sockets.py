"""Listening sockets, and clear errors when an address cannot be used."""

from __future__ import annotations

import errno
import socket

from steelyard.config.values import Address
from steelyard.errors import Fault, SteelyardError


class ListenError(SteelyardError):
    """An address cannot be listened on."""

    fault = Fault.MACHINE


class InUseError(ListenError):
    """Another program uses the address now, but may leave it, so that a retry helps."""

    retry = True


def listen(address: Address, backlog: int, flag: str) -> socket.socket:
    """A listening socket on an address that no other socket shares."""
    return _open(address, flag, shared=False, backlog=backlog)


def bind_many(address: Address, count: int, flag: str) -> list[socket.socket]:
    """One socket per process, all on one address (SO_REUSEPORT); none of them listens yet.

    The caller keeps them open: if a process is killed, connections that wait on its socket are then
    served by its successor instead of being reset.
    """
    first = _open(address, flag, shared=True)
    settled = Address(address.host, first.getsockname()[1])
    return [first, *(_open(settled, flag, shared=True) for _ in range(count - 1))]


def open_up(sock: socket.socket, backlog: int) -> None:
    """Let a socket of `bind_many` listen."""
    # lets a later socket bind the same address
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.listen(backlog)


def ensure_free(address: Address, flag: str) -> None:
    """Raise if the address is in use: SO_REUSEPORT would share it with a program of our user."""
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
    """Make a bound address visible to `ensure_free`, though nobody listens there yet.

    In Linux, two sockets that both have SO_REUSEADDR conflict only if one of them listens
    (inet_bind_conflict). A reload holds its new address like this until its balancers are ready: a
    second gateway that starts meanwhile would share the port with it.
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
            f"this user may not listen on {address}", hint=f"choose a port above 1023 with {flag}"
        )
    return ListenError(f"{address} cannot be listened on: {error}", hint=f"see {flag}")
