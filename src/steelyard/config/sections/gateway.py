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
            "trusted proxies to take PROXY headers from",
            ("proxy_protocol", "trusted_proxies"),
            lambda it: it.proxy_protocol == "off" or bool(it.trusted_proxies),
        ),
        Rule(
            "a key for each certificate, or none where each file holds both",
            ("tls_cert", "tls_key"),
            lambda it: not it.tls_key or len(it.tls_key) == len(it.tls_cert),
        ),
    )

    listen: AddressText = key(
        Address("127.0.0.1", 8080), "Where clients are served.", flag="--listen"
    )
    processes: Annotated[int, Field(ge=1, le=64)] = key(
        2, "Balancer processes on that port.", flag="--processes"
    )
    workers: Workers = key(
        (),
        "Fixed workers of `steelyard balancer`, each with its weight if that is not 1; `--worker` "
        "and `--agent` win over it.",
    )
    tls_cert: Paths = key(
        (),
        "Serve over TLS, with the certificate in this PEM file, its chain behind it. Of several, "
        "the first that names the host that a client asks for (subjectAltName) is shown, or else "
        "the first. Files that change are loaded again.",
        flag="--tls-cert",
    )
    tls_key: Paths = key(
        (),
        "The file of its private key, unencrypted, or of each in the same order; empty: each "
        "certificate's file holds its key, too.",
        flag="--tls-key",
    )
    backlog: Count = key(1024, "Connections that may wait to be accepted, per process.")
    connections: Count = key(
        10000,
        "Most clients connected, per process; for more, the idle and the slow make room.",
    )
    client_connections: Count | None = key(
        None,
        "Most connections of one client address, per process; trusted proxies are not counted.",
    )
    head: Bytes = key(32 * 1024, "Largest request or response head; larger: 431 or 502.", gt=0)
    fields: Count = key(100, "Most fields in a head; more: 431 or 502.")
    body: Bytes | None = key(None, "Largest request body; larger: 413. None: no limit.")
    head_timeout: Seconds = key(10.0, "A request head must be complete in this time.", gt=0)
    idle_timeout: Seconds = key(75.0, "An idle client connection is closed after this.", gt=0)
    body_timeout: Seconds = key(60.0, "Longest pause within a body, either way.", gt=0)
    body_rate: Bytes | None = key(
        None,
        "Least bytes per second of a body, either way, over 5 s in which the client is to move.",
        gt=0,
    )
    connect_timeout: Seconds = key(3.0, "A worker must accept in this time.", gt=0)
    answer_timeout: Seconds = key(60.0, "A worker must begin its answer by then, or 504.", gt=0)
    total_timeout: Seconds | None = key(
        None, "An exchange must be over by then, answer and all; a tunnel is none.", gt=0
    )
    upstream_idle: Seconds = key(
        4.0, "An idle connection to a worker is closed after this; less than the worker's own."
    )
    tunnel_idle: Seconds = key(
        3600.0, "A tunnel (WebSocket) in which nothing passes is closed after this.", gt=0
    )
    half_close: Literal["ask", "answer", "abort"] = key(
        "ask",
        "A client that ends its side while it waits: ask whether it is there (an interim 100), "
        "answer in any case, or take it for gone and cancel.",
    )
    trusted_proxies: Networks = key(
        (),
        "Peers whose X-Forwarded-*, Forwarded, X-Request-ID and other fields of proxies are "
        "believed; those of others are dropped or replaced (docs/deployment.md, Security).",
    )
    proxy_protocol: Literal["off", "on"] = key(
        "off", "Whether the trusted proxies, and only they, begin with a PROXY header (v1 or v2)."
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
    sticky_cookie: CookieName = key("steelyard", "Name of that cookie; workers do not see it.")
    sticky_secret: Path | None = key(
        None,
        "File with what signs it, at least 16 bytes, the same on every machine that serves the "
        "application; none: `sticky` in the state folder, made when it is missing.",
    )
    slow_start: Seconds = key(
        10.0, "A new worker's weight rises from a tenth to the whole in this time; 0: at once."
    )
    worker_concurrency: Count | None = key(
        None, "Most requests at one worker at a time, per process; none: no limit."
    )
    waiting: Annotated[int, Field(ge=0)] = key(
        1000, "Most requests that wait for a worker below that limit, per process; more: 503."
    )
    waiting_time: Seconds = key(5.0, "Longest wait for such a worker; longer: 503.", gt=0)
    access_log: LogPath | None = key(
        None, "A file to which a line per request is appended; SIGUSR1 has it opened anew."
    )
    access_log_format: Literal["json", "combined"] = key("json", "What such a line looks like.")
    metrics: AddressText | None = key(
        None,
        "Where the Prometheus metrics of all balancers are served, at /metrics, for instance "
        "127.0.0.1:9101; none: nowhere.",
        flag="--metrics",
    )
    retries: Annotated[int, Field(ge=0)] = key(2, "Other workers tried when one fails, if safe.")
    retry_budget: Percent = key(
        20.0, "Most retries in percent of the recent requests, beside a few per second."
    )
    eject_after: Count | None = key(
        3, "Failures in a row after which a worker is left alone for a while; none: never."
    )
    eject_first: Seconds = key(
        1.0, "How long the first time; it doubles until one request succeeds.", gt=0
    )
    eject_longest: Seconds = key(60.0, "How long at most.", gt=0)
    drain: Seconds = key(
        30.0,
        "Time for open exchanges and tunnels to end when a balancer stops, or is replaced by a "
        "reload; WebSockets are closed with 1001 five seconds before its end (of less than 10 s: "
        "half-way).",
    )

    @property
    def pairs(self) -> tuple[tuple[Path, Path], ...]:
        """The files of each certificate and of its key."""
        certificates = [path.expanduser() for path in self.tls_cert]
        keys = [path.expanduser() for path in self.tls_key] or certificates
        return tuple(zip(certificates, keys, strict=True))

    @property
    def scheme(self) -> str:
        return "https" if self.tls_cert else "http"
