"""The balancers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from steelyard.config.section import Rule, Section, key
from steelyard.config.values import (
    Address,
    AddressText,
    Bytes,
    CookieName,
    Count,
    LogPath,
    Networks,
    Paths,
    Percent,
    Seconds,
    Workers,
)

Policy = Literal[
    "shortest_wait",
    "least_in_flight",
    "peak_ewma",
    "ring_of_two",
    "power_of_two",
    "weighted_ring",
    "weighted_random",
    "round_robin",
    "consistent_hash",
    "linked_ring",
    "shuffled_modulo",
    "thread_local_random",
    "locked_random",
]


class Gateway(Section):
    """The balancers."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "eject_first ≤ eject_longest",
            ("eject_first", "eject_longest"),
            lambda it: it.eject_first <= it.eject_longest,
        ),
        Rule(
            "trusted_proxies, as only they may send PROXY headers",
            ("proxy_protocol", "trusted_proxies"),
            lambda it: it.proxy_protocol == "off" or bool(it.trusted_proxies),
        ),
        Rule(
            "a key for each certificate, or no key if each certificate's file has its key",
            ("tls_cert", "tls_key"),
            lambda it: not it.tls_key or len(it.tls_key) == len(it.tls_cert),
        ),
    )

    listen: AddressText = key(
        Address("127.0.0.1", 8080), "Address at which clients are served.", flag="--listen"
    )
    processes: Annotated[int, Field(ge=1, le=64)] = key(
        2, "Number of balancer processes, which share the port.", flag="--processes"
    )
    workers: Workers = key(
        (),
        "Fixed workers of `steelyard balancer`, each with its weight if that is not 1; `--worker` "
        "and `--agent` win over this key.",
    )
    tls_cert: Paths = key(
        (),
        "Serve over TLS with the certificate in this PEM file, followed by its chain. Of several "
        "certificates a client gets the first that has the host it asks for (subjectAltName), or "
        "else the first of all. Files that change are loaded again.",
        flag="--tls-cert",
    )
    tls_key: Paths = key(
        (),
        "The file of the unencrypted private key, or one file for each certificate in the same "
        "order; empty: the file of each certificate has its key, too.",
        flag="--tls-key",
    )
    backlog: Count = key(1024, "Connections that may wait to be accepted, per process.")
    connections: Count = key(
        10000,
        "Most connected clients, per process; beyond that, idle and slow clients are closed to "
        "make room.",
    )
    client_connections: Count | None = key(
        None,
        "Most connections of one client address, per process; trusted proxies have no such limit.",
    )
    head: Bytes = key(
        32 * 1024,
        "Largest head of a request or response; a larger one is answered 431 or 502.",
        gt=0,
    )
    fields: Count = key(100, "Most fields in a head; a head with more is answered 431 or 502.")
    body: Bytes | None = key(
        None, "Largest request body; a larger one is answered 413. None: no limit."
    )
    head_timeout: Seconds = key(10.0, "Longest time until a request head is complete.", gt=0)
    idle_timeout: Seconds = key(
        75.0, "An idle connection of a client is closed after this time.", gt=0
    )
    body_timeout: Seconds = key(60.0, "Longest pause within a body, in either direction.", gt=0)
    body_rate: Bytes | None = key(
        None,
        "Minimum rate of a body in bytes per second, in either direction, measured over 5 s in "
        "which it is the client that has to send or receive.",
        gt=0,
    )
    connect_timeout: Seconds = key(3.0, "Longest time until a worker accepts a connection.", gt=0)
    answer_timeout: Seconds = key(
        60.0, "Longest time until a worker begins its answer; the client then gets 504.", gt=0
    )
    total_timeout: Seconds | None = key(
        None, "Longest time for a whole exchange with its answer; tunnels have no such limit.", gt=0
    )
    upstream_idle: Seconds = key(
        4.0,
        "An idle connection to a worker is closed after this time, which must be shorter than the "
        "worker's own idle timeout.",
    )
    tunnel_idle: Seconds = key(
        3600.0, "A tunnel (WebSocket) without any traffic is closed after this time.", gt=0
    )
    half_close: Literal["ask", "answer", "abort"] = key(
        "ask",
        "What to do if a client closes its sending side while it waits for an answer: ask whether "
        "it is still there (an interim 100), answer in any case, or abort the request.",
    )
    trusted_proxies: Networks = key(
        (),
        "Peers whose X-Forwarded-*, Forwarded, X-Request-ID and other fields of proxies are "
        "trusted; such fields of other peers are dropped or replaced (docs/deployment.md, "
        "Security).",
    )
    proxy_protocol: Literal["off", "on"] = key(
        "off", "Whether connections of trusted proxies begin with a PROXY header (v1 or v2)."
    )
    forwarded: Literal["x-forwarded", "forwarded", "both"] = key(
        "x-forwarded", "Which fields tell a worker about the client; `forwarded` is RFC 7239."
    )
    policy: Policy = key(
        "shortest_wait",
        "How a worker is chosen for a request (docs/decisions/0008-who-gets-the-request.md).",
        flag="--policy",
    )
    sticky: Literal["off", "cookie"] = key(
        "off", "Whether a client's requests stay with one worker, by a signed cookie."
    )
    sticky_cookie: CookieName = key(
        "steelyard", "Name of the `sticky` cookie; workers do not see it."
    )
    sticky_secret: Path | None = key(
        None,
        "File with the secret that signs the cookie, at least 16 bytes, the same on every machine "
        "that serves the application; none: `sticky` in the state folder, created if missing.",
    )
    slow_start: Seconds = key(
        10.0,
        "Time in which the weight of a new worker rises from a tenth to its full value; 0: at "
        "once.",
    )
    worker_concurrency: Count | None = key(
        None, "Most requests at one worker at a time, per process; none: no limit."
    )
    waiting: Annotated[int, Field(ge=0)] = key(
        1000,
        "Most requests that wait until a worker has fewer than `worker_concurrency` requests, per "
        "process; further ones are answered 503.",
    )
    waiting_time: Seconds = key(
        5.0, "Longest wait of a request for a worker; it is then answered 503.", gt=0
    )
    access_log: LogPath | None = key(
        None, "File to which a line for each request is appended; SIGUSR1 reopens it."
    )
    access_log_format: Literal["json", "combined"] = key(
        "json", "Format of the lines in the access log."
    )
    metrics: AddressText | None = key(
        None,
        "Address at which the Prometheus metrics of all balancers are served, at /metrics, for "
        "instance 127.0.0.1:9101; none: they are not served.",
        flag="--metrics",
    )
    retries: Annotated[int, Field(ge=0)] = key(
        2, "Most other workers that are tried if a worker fails and a retry is safe."
    )
    retry_budget: Percent = key(
        20.0, "Most retries in percent of the recent requests, in addition to a few per second."
    )
    eject_after: Count | None = key(
        3,
        "Failures in a row after which a worker is ejected: it gets no requests for a while; none: "
        "never.",
    )
    eject_first: Seconds = key(
        1.0,
        "How long a worker is ejected for the first time; the time doubles until a request "
        "succeeds.",
        gt=0,
    )
    eject_longest: Seconds = key(60.0, "Longest time for which a worker is ejected.", gt=0)
    drain: Seconds = key(
        30.0,
        "Time for open exchanges and tunnels to end when a balancer stops or a reload replaces it. "
        "WebSockets are closed with 1001 five seconds before the end of this time (half-way, if it "
        "is less than 10 s).",
    )

    @property
    def pairs(self) -> tuple[tuple[Path, Path], ...]:
        """The two files of each certificate and its key."""
        certificates = [path.expanduser() for path in self.tls_cert]
        keys = [path.expanduser() for path in self.tls_key] or certificates
        return tuple(zip(certificates, keys, strict=True))

    @property
    def scheme(self) -> str:
        return "https" if self.tls_cert else "http"
