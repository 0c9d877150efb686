"""Errors of Redis, explained: whose fault it is, and what to do about it."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

from pydantic import ValidationError
from redis import exceptions as redis

from steelyard.errors import Fault, StoreError

# The first case that fits counts: kind of error, a word in its text, whose fault, what to do.
_CASES: tuple[tuple[type[Exception], str, Fault, str], ...] = (
    (
        ssl.SSLCertVerificationError,
        "",
        Fault.USER,
        "is the certificate for that host? Name its authority: rediss://…?ssl_ca_certs=PATH",
    ),
    (
        ssl.SSLError,
        "",
        Fault.USER,
        "does the server speak TLS? Without TLS the URL begins with redis://",
    ),
    (FileNotFoundError, "", Fault.USER, "a file that the URL names does not exist"),
    (
        redis.AuthenticationError,
        "",
        Fault.USER,
        "write user and password into the URL: redis://USER:PASSWORD@HOST; "
        "STEELYARD_STORE_URL keeps it out of the process list",
    ),
    (
        redis.NoPermissionError,
        "",
        Fault.USER,
        "the server's ACL must allow this user ~steelyard:* and +eval",
    ),
    (redis.ResponseError, "DB index", Fault.USER, "choose another database: redis://HOST/0"),
    (
        redis.ResponseError,
        "WRONGTYPE",
        Fault.USER,
        "somebody else wrote to our keys: use another database, or delete steelyard:*",
    ),
    (
        redis.OutOfMemoryError,
        "",
        Fault.MACHINE,
        "raise the server's maxmemory: a record is under 1 KB",
    ),
    (redis.ReadOnlyError, "", Fault.USER, "the server is a replica: the URL must name the primary"),
    (redis.MovedError, "", Fault.USER, "this is a cluster: name the node that has the slot"),
    (redis.BusyLoadingError, "", Fault.MACHINE, "the server still loads its data"),
    (
        redis.TimeoutError,
        "",
        Fault.MACHINE,
        "is the server overloaded, is there a firewall, or does only one side speak TLS (rediss://)?",
    ),
    (
        redis.ConnectionError,
        "",
        Fault.MACHINE,
        "does a server run there? One that speaks only TLS needs rediss://",
    ),
    (ValidationError, "", Fault.USER, "a record was changed by hand; delete steelyard:*"),
)


def explain(error: Exception, url: str) -> StoreError:
    """The StoreError that explains this error to people."""
    for kind, word, fault, hint in _CASES:
        for one in _chain(error):
            if isinstance(one, kind) and word in str(one):
                return _told(one, url, fault, hint)
    return _told(error, url, Fault.MACHINE, "see the log of the server")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and its causes, one after the other: redis-py wraps TLS errors."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _told(error: BaseException, url: str, fault: Fault, hint: str) -> StoreError:
    told = StoreError(f"{url}: {error}", hint=hint)
    told.fault = fault
    return told
