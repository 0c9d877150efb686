"""Every key there is, with its type, default, bounds and meaning.

One frozen object, made once and passed down. docs/configuration.md, the flags and the
environment variables are generated from it. `flag` in a field is a short name for a key that
people type often; every key's long flag is `--section-key`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from steelyard.config.section import Rule, Section, key
from steelyard.config.values import (
    Address,
    AddressText,
    Bytes,
    Capabilities,
    Constraints,
    CookieName,
    EnginePlace,
    ImageName,
    LogPath,
    Name,
    NetworkName,
    Networks,
    Paths,
    Port,
    Ports,
    Seconds,
    StoreUrl,
    UrlPath,
    Volumes,
    Workers,
)

Percent = Annotated[float, Field(ge=0, le=100)]
Count = Annotated[int, Field(ge=1)]
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


class Application(Section):
    """What is served."""

    name: Name = key(
        "app", "Name of the application; it names workers, records and log files.", flag="--name"
    )
    command: tuple[str, ...] = key(
        (),
        "The command of one worker. `{port}` is filled in, and `$PORT` is set. In a container it "
        "takes the place of the image's own.",
    )
    directory: Path = key(
        Path(),
        "Where the command of a process runs; for a command in the file, by default the file's "
        "folder.",
    )
    environment: dict[str, str] = key({}, "Variables added to the workers' environment.")


class Runtime(Section):
    """Where workers run."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("first port ≤ last port", ("ports",), lambda it: it.ports[0] <= it.ports[1]),
        Rule(
            "kind docker or swarm for an image",
            ("kind", "image"),
            lambda it: it.image is None or it.kind in {"docker", "swarm"},
        ),
    )

    kind: Literal["process", "docker", "swarm", "stub"] = key(
        "process",
        "What a worker is; docker where an image is given and no kind.",
        flag="--runtime",
    )
    ports: Ports = key(
        (21000, 29999),
        "First and last port for processes; outside the range of outgoing connections.",
    )
    image: ImageName | None = key(None, "The image of a container.", flag="--image")
    port: Port | None = key(
        None, "The port on which the application listens in its container.", flag="--port"
    )
    reach: Literal["loopback", "network"] = key(
        "loopback",
        "How balancers reach a container: on this machine, by a port published on 127.0.0.1 only "
        "(a swarm publishes on every address of a worker's node), or by its name, from containers "
        "on the same network; then nothing is published.",
    )
    network: NetworkName | None = key(
        None, "The application's own Docker network; none: `steelyard-` and the application's name."
    )
    pull: Literal["missing", "always", "never"] = key(
        "missing", "When the image is pulled, as the agent starts."
    )
    volumes: Volumes = key((), "What is mounted into containers.")
    capabilities: Capabilities = key(
        (), "Linux capabilities of a container; all others are dropped."
    )
    engines: EnginePlace | None = key(
        None,
        "Where the engine of a swarm's node is, `{name}` and `{address}` being the node's. None: "
        "workers on other nodes are not measured, and stop at the swarm's own pace.",
    )
    constraints: Constraints = key((), "Which nodes of a swarm may run workers; none: all.")
    cpus: float | None = key(None, "CPU limit of one worker, in cores.", flag="--cpus", gt=0)
    memory: Bytes | None = key(None, "Memory limit of one worker.", flag="--memory", gt=0)
    grace: Seconds = key(10.0, "Time between asking a worker to end and killing it.")
    leftovers: Literal["adopt", "reap"] = key(
        "adopt", "What the agent does on its start with workers of an earlier life."
    )

    @model_validator(mode="before")
    @classmethod
    def _image_means_docker(cls, data: Any) -> Any:
        """`steelyard up --image app:1 --port 8000` says enough."""
        if isinstance(data, dict) and data.get("image") and "kind" not in data:
            return {**data, "kind": "docker"}
        return data


class Probe(Section):
    """How the agent finds out whether a worker can serve."""

    path: UrlPath | None = key(
        None,
        "HTTP path that answers 200…399 when the worker is ready. None: its port must accept, "
        "which does not tell a worker that hangs.",
        flag="--health-path",
    )
    interval: Seconds = key(1.0, "Time between two probes of a worker.", gt=0)
    timeout: Seconds = key(2.0, "A probe that takes longer has failed.", gt=0)
    failures: Count = key(2, "Failed probes in a row that take a worker out of the ring.")
    boot: Seconds = key(
        30.0, "A worker not ready by then is replaced.", flag="--boot-timeout", gt=0
    )
    hung: Seconds = key(20.0, "A worker whose probes fail this long is replaced.", gt=0)


class Score(Section):
    """How a worker is rated, 0…100 (docs/architecture.md has the formulas)."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "at least one weight above 0",
            ("cpu", "memory", "network", "availability"),
            lambda it: it.cpu + it.memory + it.network + it.availability > 0,
        ),
    )

    cpu: float = key(0.35, "Weight of the CPU score.", ge=0)
    memory: float = key(0.25, "Weight of the memory score.", ge=0)
    network: float = key(0.15, "Weight of the network score.", ge=0)
    availability: float = key(0.25, "Weight of the availability score.", ge=0)
    network_capacity: float | None = key(
        None, "MB/s that count as a full network; none: relative change counts.", gt=0
    )
    history: Count = key(20, "Response times that are averaged.")
    best: Count = key(10, "How many of the best response times are averaged.")
    best_age: Seconds = key(300.0, "A best response time is forgotten after this.", gt=0)
    smoothing: float = key(0.2, "Weight of the newest value in the smoothed one.", gt=0, le=1)


class States(Section):
    """Where utilization changes a worker's state."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("low < high", ("low", "high"), lambda it: it.low < it.high),
        # Otherwise a worker that was busy once could never be rated low again.
        Rule("hysteresis < low", ("hysteresis", "low"), lambda it: it.hysteresis < it.low),
    )

    low: Percent = key(30.0, "Utilization below this is low (LU).")
    high: Percent = key(60.0, "Utilization from this on is high (HU).")
    hysteresis: Percent = key(5.0, "How far below a cut utilization must fall to go back.")


class Scaling(Section):
    """How many workers there are."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("min ≤ max", ("min", "max"), lambda it: it.min <= it.max),
        Rule("low < high", ("low", "high"), lambda it: it.low < it.high),
        Rule("high ≤ critical", ("high", "critical"), lambda it: it.high <= it.critical),
        Rule(
            "backoff ≤ backoff_max",
            ("backoff", "backoff_max"),
            lambda it: it.backoff <= it.backoff_max,
        ),
        Rule(
            "panic_window ≤ window",
            ("panic_window", "window"),
            lambda it: it.panic_window <= it.window,
        ),
        Rule(
            # No wait says that there are enough workers, not that fewer would do.
            "a target of utilization or in_flight, or both",
            ("target_utilization", "target_in_flight"),
            lambda it: (it.target_utilization, it.target_in_flight) != (None, None),
        ),
    )

    policy: Literal["step", "target", "predictive", "fixed"] = key(
        "step",
        "The scaling policy: `step` adds and retires one by one, between `low` and `high`; "
        "`target` has as many workers as carry `target_…` each; `predictive` looks as far ahead "
        "as a worker takes to boot, besides; `fixed` keeps what there is.",
    )
    min: Count = key(4, "Fewest workers; the first ones are never retired.", flag="--min")
    max: Count = key(8, "Most workers.", flag="--max")
    low: Percent = key(20.0, "Retire workers while mean utilization is below this.")
    high: Percent = key(60.0, "Add workers when mean utilization reaches this.")
    critical: Percent = key(80.0, "Add workers when one worker's utilization reaches this.")
    up: Count = key(1, "How many workers one decision adds.")
    down: Count = key(1, "How many workers one decision retires.")
    cooldown: Seconds = key(5.0, "Time after a decision in which there is no other.")
    dwell_up: Seconds = key(4.0, "How long the load must be high before workers are added.")
    dwell_down: Seconds = key(30.0, "How long the load must be low before workers are retired.")
    target_utilization: Annotated[float, Field(gt=0, le=100)] | None = key(
        80.0, "Mean utilization that `target` aims at; none: it does not count."
    )
    spare: Annotated[float, Field(ge=0)] = key(
        1.5,
        "Workers that `target` has beside the busy ones, at least, times their square root: "
        "requests come by chance, and a small fleet needs a larger share for that than a large "
        "one; 0: what utilization asks for, and no more.",
    )
    target_in_flight: Annotated[float, Field(gt=0)] | None = key(
        None,
        "Open requests per worker that `target` aims at, those in the waiting line included; of "
        "several targets the one that needs most workers counts.",
    )
    target_wait: Seconds | None = key(
        None, "Wait in the gateway's line from which on `target` adds workers.", gt=0
    )
    tolerance: Percent = key(10.0, "How far off `target` may be before it changes anything.")
    window: Seconds = key(30.0, "`target` goes by the mean over this time.", gt=0)
    stabilization: Seconds = key(
        120.0, "On the way down, the most workers that `target` wanted within this time count."
    )
    panic_window: Seconds = key(
        6.0, "Over this shorter time `target` looks out for more than it can wait with.", gt=0
    )
    panic: Annotated[float, Field(ge=100)] = key(
        150.0,
        "That is, for a need of so many percent of the workers that serve: it is met at once, and "
        "nobody is retired until there has been none for a `window`.",
    )
    history: Seconds = key(120.0, "Through so much of the past `predictive` draws its line.", gt=0)
    drain: Seconds = key(30.0, "A retired worker is stopped after this even if it is not done.")
    backoff: Seconds = key(1.0, "Wait after a failed start; doubles with each failure in a row.")
    backoff_max: Seconds = key(60.0, "Longest wait after a failed start.")


class Agent(Section):
    """The deployment agent."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("0, or 1 second and more", ("lease",), lambda it: it.lease == 0 or it.lease >= 1),
        Rule(
            "on_stop = leave with a lease: the workers are the next agent's",
            ("lease", "on_stop"),
            lambda it: it.lease == 0 or it.on_stop == "leave",
        ),
    )

    listen: AddressText = key(
        Address("127.0.0.1", 8081), "Where its API and the queue are served.", flag="--agent-listen"
    )
    tick: Seconds = key(2.0, "Time between two measurements, decisions and queues.", gt=0)
    on_stop: Literal["stop", "leave"] = key(
        "stop", "What happens to the workers when the agent is asked to stop."
    )
    lease: Seconds = key(
        0.0,
        "With several agents of one application on one store: the first leads, the others stand by "
        "and do not listen, and one takes over when the leader has not renewed its lease for so "
        "long. 0: this agent is the only one.",
        flag="--lease",
    )


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
        "Peers whose X-Forwarded-*, Forwarded and X-Request-ID are believed; those of others are "
        "replaced.",
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
    drain: Seconds = key(30.0, "Time for open exchanges to end when a balancer stops.")

    @property
    def pairs(self) -> tuple[tuple[Path, Path], ...]:
        """The files of each certificate and of its key."""
        certificates = [path.expanduser() for path in self.tls_cert]
        keys = [path.expanduser() for path in self.tls_key] or certificates
        return tuple(zip(certificates, keys, strict=True))

    @property
    def scheme(self) -> str:
        return "https" if self.tls_cert else "http"


class Store(Section):
    """What survives a restart."""

    url: StoreUrl = key(
        "sqlite:",
        "`sqlite:PATH` (no path: a file in the state folder), `redis://USER:PASSWORD@HOST:PORT/DB` "
        "(needs `steelyard[redis]`; over TLS `rediss://…`, with `?ssl_ca_certs=PATH` for an "
        "authority of your own) or `memory:`.",
        flag="--store",
    )


class Log(Section):
    """What the agent and the balancers write about themselves."""

    level: Literal["debug", "info", "warning", "error"] = key(
        "info", "Least important message that is written.", flag="--log-level"
    )


class Settings(Section):
    """The whole configuration."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "two addresses, not one",
            ("agent.listen", "gateway.listen"),
            lambda it: not it.agent.listen.clashes(it.gateway.listen),
        ),
        Rule(
            "another address than clients and the agent have",
            ("gateway.metrics", "gateway.listen", "agent.listen"),
            lambda it: (
                it.gateway.metrics is None
                or not any(
                    it.gateway.metrics.clashes(other)
                    for other in (it.gateway.listen, it.agent.listen)
                )
            ),
        ),
        Rule(
            "a store that agents can share",
            ("agent.lease", "store.url"),
            lambda it: it.agent.lease == 0 or it.store.url != "memory:",
        ),
        Rule(
            "leftovers = adopt with a lease: who takes over must not stop what runs",
            ("agent.lease", "runtime.leftovers"),
            lambda it: it.agent.lease == 0 or it.runtime.leftovers == "adopt",
        ),
        Rule(
            "a port for each worker",
            ("runtime.ports", "scaling.max"),
            lambda it: it.runtime.ports[1] - it.runtime.ports[0] >= it.scaling.max - 1,
        ),
    )

    state: Path = key(
        Path("~/.local/state/steelyard"),
        "Folder of the token, the embedded store and the workers' logs.",
        flag="--state",
    )
    application: Application = Application()
    runtime: Runtime = Runtime()
    probe: Probe = Probe()
    score: Score = Score()
    states: States = States()
    scaling: Scaling = Scaling()
    agent: Agent = Agent()
    gateway: Gateway = Gateway()
    store: Store = Store()
    log: Log = Log()

    @property
    def folder(self) -> Path:
        """The application's own folder below the state folder."""
        return self.state.expanduser() / self.application.name

    @property
    def token_file(self) -> Path:
        return self.state.expanduser() / "token"
