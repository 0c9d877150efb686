"""The application, where its workers run, and how they are probed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from steelyard.config.section import Rule, Section, key
from steelyard.config.values import (
    Bytes,
    Capabilities,
    Constraints,
    Count,
    EnginePlace,
    ImageName,
    Name,
    NetworkName,
    Port,
    Ports,
    Seconds,
    UrlPath,
    Volumes,
)


class Application(Section):
    """The application that is served."""

    name: Name = key(
        "app", "Name of the application; it names workers, records and log files.", flag="--name"
    )
    command: tuple[str, ...] = key(
        (),
        "The command of one worker, as a list of words or as one text that is split as a shell "
        "would split it. `{port}` is replaced by the worker's port, and `$PORT` is set to it. In a "
        "container it replaces the command of the image.",
    )
    directory: Path = key(
        Path(),
        "Folder in which the command of a process runs; for a command in the file, the folder of "
        "the file by default.",
    )
    environment: dict[str, str] = key({}, "Variables added to the workers' environment.")


class Runtime(Section):
    """Where workers run."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("first port ≤ last port", ("ports",), lambda it: it.ports[0] <= it.ports[1]),
        Rule(
            "kind = docker or swarm if there is an image",
            ("kind", "image"),
            lambda it: it.image is None or it.kind in {"docker", "swarm"},
        ),
    )

    kind: Literal["process", "docker", "swarm", "stub"] = key(
        "process",
        "What a worker is: a process, a container, a service of a swarm, or simulated (stub); "
        "docker if an image is given and no kind.",
        flag="--runtime",
    )
    ports: Ports = key(
        (21000, 29999),
        "First and last port for processes; the range should not overlap the system's range for "
        "outgoing connections.",
    )
    image: ImageName | None = key(None, "The image of the containers.", flag="--image")
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
        "missing", "Whether the agent pulls the image when it starts."
    )
    volumes: Volumes = key((), "Volumes and folders that are mounted into containers.")
    capabilities: Capabilities = key(
        (), "Linux capabilities of a container; all others are dropped."
    )
    engines: EnginePlace | None = key(
        None,
        "Address of the engine of each node of a swarm; `{name}` and `{address}` stand for those "
        "of the node. None: workers on other nodes are not measured, and the swarm decides how "
        "fast they stop.",
    )
    constraints: Constraints = key((), "Which nodes of a swarm may run workers; none: all.")
    cpus: float | None = key(None, "CPU limit of one worker, in cores.", flag="--cpus", gt=0)
    memory: Bytes | None = key(
        None,
        "Memory limit of one worker.",
        flag="--memory",
        ge=2**20,  # no program runs with less, so a user who writes 512 means megabytes
    )
    grace: Seconds = key(10.0, "Time between asking a worker to end and killing it.")
    log_size: Bytes = key(
        16 * 1024**2,
        "A process whose log is larger than this begins a new one, and one old log is kept. "
        "Containers keep three logs of 10 MB.",
        gt=0,
    )
    leftovers: Literal["adopt", "reap"] = key(
        "adopt", "Whether the agent adopts or stops workers of an earlier agent when it starts."
    )

    @model_validator(mode="before")
    @classmethod
    def _image_means_docker(cls, data: Any) -> Any:
        """Make docker the default kind if there is an image: `steelyard up --image app:1`."""
        if isinstance(data, dict) and data.get("image") and "kind" not in data:
            return {**data, "kind": "docker"}
        return data


class Probe(Section):
    """How the agent finds out whether a worker can serve."""

    path: UrlPath | None = key(
        None,
        "HTTP path that is answered with 200…399 when the worker is ready. None: it is enough that "
        "the port accepts connections, which does not detect a worker that hangs.",
        flag="--health-path",
    )
    interval: Seconds = key(1.0, "Time between two probes of a worker.", gt=0)
    timeout: Seconds = key(2.0, "A probe that takes longer has failed.", gt=0)
    failures: Count = key(2, "Failed probes in a row after which a worker gets no requests.")
    boot: Seconds = key(
        30.0,
        "A worker that is not ready within this time is replaced.",
        flag="--boot-timeout",
        gt=0,
    )
    hung: Seconds = key(20.0, "A worker whose probes have failed for this time is replaced.", gt=0)
