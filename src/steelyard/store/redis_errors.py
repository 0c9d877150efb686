"""What went wrong with Redis, in words: whose fault it is, and what to do about it."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

from pydantic import ValidationError
from redis import exceptions as redis

from steelyard.errors import Fault, StoreError

# The first that fits: kind of error, a word in its text, whose fault, what to do.
_CASES: tuple[tuple[type[Exception], str, Fault, str], ...] = (
    (
        ssl.SSLCertVerificationError,
        "",
        Fault.USER,
        "is its certificate for that host? Name the authority: rediss://…?ssl_ca_certs=PATH",
    ),
    (ssl.SSLError, "", Fault.USER, "does it speak TLS there? Without TLS it is redis://"),
    (FileNotFoundError, "", Fault.USER, "a file that the URL names is not there"),
    (
        redis.AuthenticationError,
        "",
        Fault.USER,
        "write user and password into the URL: redis://USER:PASSWORD@HOST; "
        "STEELYARD_STORE_URL keeps it out of the process list",
    ),
    (redis.NoPermissionError, "", Fault.USER, "its ACL must allow us ~steelyard:* and +eval"),
    (redis.ResponseError, "DB index", Fault.USER, "choose another database: redis://HOST/0"),
    (
        redis.ResponseError,
        "WRONGTYPE",
        Fault.USER,
        "somebody else wrote to our keys: use another database, or delete steelyard:*",
    ),
    (redis.OutOfMemoryError, "", Fault.MACHINE, "raise its maxmemory: a record is under 1 KB"),
    (redis.ReadOnlyError, "", Fault.USER, "it is a replica: the URL must name the primary"),
    (redis.MovedError, "", Fault.USER, "it is one of a cluster: name the node that has the slot"),
    (redis.BusyLoadingError, "", Fault.MACHINE, "it still loads its data"),
    (
        redis.TimeoutError,
        "",
        Fault.MACHINE,
        "is it overloaded, is a firewall between, or does one side alone speak TLS (rediss://)?",
    ),
    (
        redis.ConnectionError,
        "",
        Fault.MACHINE,
        "does it run there? A server that speaks TLS only needs rediss://",
    ),
    (ValidationError, "", Fault.USER, "a record was changed by hand; delete steelyard:*"),
)


def explain(error: Exception, url: str) -> StoreError:
    """The error that people read."""
    for kind, word, fault, hint in _CASES:
        for one in _chain(error):
            if isinstance(one, kind) and word in str(one):
                return _told(one, url, fault, hint)
    return _told(error, url, Fault.MACHINE, "see the log of the server")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it came from: redis-py wraps those of TLS."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _told(error: BaseException, url: str, fault: Fault, hint: str) -> StoreError:
    told = StoreError(f"{url}: {error}", hint=hint)
    told.fault = fault
    return told
