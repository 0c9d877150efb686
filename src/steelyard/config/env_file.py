"""The env file: RustyBalancer's variables and our own, and what became of each.

RustyBalancer is the system of the paper that Steelyard began with (docs/sources.md); its whole
configuration is a `.env` file. A variable becomes one or several keys, or it is not used for a
reason that we tell. RustyBalancer's load thresholds are scores, where 100 is best; ours are
utilizations, 100 − score.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.config.keys import PREFIX, Key, every_key
from steelyard.config.layer import Layer
from steelyard.config.text import layer_of
from steelyard.config.unknown import unknown_variable
from steelyard.config.words import quoted

_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.*)")
_QUOTED = re.compile(r"""(?P<mark>["'])(?P<text>.*)(?P=mark)\s*(#.*)?""")
_COMMENT = re.compile(r"(^|\s+)#.*")
_FOREIGN = ("COMPOSE_", "BUILDKIT_", "PIP_")  # variables of other tools that read the same file


@dataclass(frozen=True, slots=True)
class Line:
    """One assignment of the file, and its place."""

    name: str
    value: str
    place: str


@dataclass(frozen=True, slots=True)
class Became:
    """What became of a variable, to be shown to people."""

    name: str
    value: str
    keys: tuple[tuple[str, str], ...]
    note: str


@dataclass(frozen=True, slots=True)
class EnvFile:
    """The content of the file: its keys, what became of each variable, and the Docker engine."""

    layer: Layer
    story: tuple[Became, ...] = ()
    engine: str = ""  # the value of DOCKER_HOST


Values = Mapping[str, str]
Reader = Callable[[str, Values], str]


@dataclass(frozen=True, slots=True)
class Variable:
    """The keys that a variable sets, the function that makes their value, and a note for people."""

    keys: tuple[str, ...] = ()
    read: Reader = lambda text, _: text
    note: str = ""


def _utilization(text: str, _: Values) -> str:
    try:
        score = float(text)
    except ValueError:
        score = -1.0
    if not 0 <= score <= 100:
        raise ValueError("a score 0…100")
    return f"{100 - score:g}"


def _loopback(text: str, _: Values) -> str:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise ValueError("a port, 1…65535")
    return f"127.0.0.1:{text}"


def _name(text: str, _: Values) -> str:
    """The text as a name for containers and networks: lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _redis(_: str, values: Values) -> str:
    host, port = values.get("REDIS_HOST", "127.0.0.1"), values.get("REDIS_PORT", "6379")
    return f"redis://{host}:{port}"


def _key(*keys: str, read: Reader = lambda text, _: text, note: str = "") -> Variable:
    return Variable(keys, read, note)


def _unused(why: str) -> Variable:
    return Variable(note=f"not used: {why}")


_GATEWAY = _key(
    "gateway.listen", read=_loopback, note="on loopback; --listen '*:PORT' serves the network"
)
_SCORE = "as utilization: 100 − score"
RUSTY_BALANCER: Mapping[str, Variable] = {
    "DOCKER_IMAGE": _key("runtime.image"),
    "TARGET_PORT": _key("runtime.port"),
    "DOCKER_HOST": Variable(note="the Docker engine, unless the environment has DOCKER_HOST, too"),
    "DOCKER_SOCKET_VOLUME": _unused("DOCKER_HOST says where the engine is"),
    "APP_IDENTIFIER": _key("application.name", read=_name),
    "DEFAULT_CONTAINER": _key("scaling.min"),
    "MAX_CONTAINERS": _key("scaling.max"),
    "HIGH_LOAD_THRESHOLD": _key("scaling.high", read=_utilization, note=_SCORE),
    "LOW_LOAD_THRESHOLD": _key("scaling.low", read=_utilization, note=_SCORE),
    "CRITICAL_LOAD_THRESHOLD": _key("scaling.critical", read=_utilization, note=_SCORE),
    "COOLDOWN_PERIOD": _key("scaling.cooldown"),
    "SCALE_STEP": _key("scaling.up", "scaling.down"),
    "SCALE_CHECK_PERIOD": _unused("every agent.tick is a check"),
    "CPU_WEIGHT": _key("score.cpu"),
    "MEMORY_WEIGHT": _key("score.memory"),
    "NETWORK_WEIGHT": _key("score.network"),
    "AVAILABILITY_WEIGHT": _key("score.availability"),
    "HISTORY_SIZE": _key("score.history"),
    "BEST_TIME_WINDOW": _key("score.best"),
    "EMA_ALPHA": _key("score.smoothing"),
    "REQUEST_TIMEOUT": _key("gateway.answer_timeout"),
    "HOST_PORT_HTTP_BALANCER": _GATEWAY,
    "HOST_PORT_BALANCER": _GATEWAY,  # an older name of HOST_PORT_HTTP_BALANCER
    "HOST_PORT_HTTP_DEPLOYMENT_AGENT": _key("agent.listen", read=_loopback, note="on loopback"),
    "HOST_PORT_WS_DEPLOYMENT_AGENT": _unused("the agent serves the queue on the port of its API"),
    "HOST_PORT_WS_BALANCER": _unused("a balancer reports on the socket on which it gets the queue"),
    "REDIS_HOST": _key("store.url", read=_redis),
    "REDIS_PORT": _key("store.url", read=_redis),
    "REDIS_INSIGHT_PORT": _unused("Redis Insight is a profile of compose.yaml"),
    "CACHE_CAPACITY": _unused("there is no cache yet"),
    "PORT_DASHBOARD": _unused("there is no dashboard yet"),
    "PORT_GRAFANA": _unused("the agent and --metrics serve metrics for Prometheus"),
}
# The variables of compose.yaml and stack.yaml, because one file may serve for them and for us.
_COMPOSE = _unused("a variable of compose.yaml")
OF_COMPOSE: Mapping[str, Variable] = {
    "APPLICATION": _key("application.name"),
    "HEALTH_PATH": _key("probe.path"),
    "WORKER_CPUS": _key("runtime.cpus"),
    "WORKER_MEMORY": _key("runtime.memory"),
    "ON_STOP": _key("agent.on_stop"),
    "ENV_FILE": _COMPOSE,
    "DOCKER_GID": _COMPOSE,
    "PARTS_IMAGE": _COMPOSE,
    "REDIS_IMAGE": _COMPOSE,
    "INSIGHT_IMAGE": _COMPOSE,
}
VARIABLES: Mapping[str, Variable] = {**RUSTY_BALANCER, **OF_COMPOSE}


def read_env_file(file: Path) -> EnvFile:
    """Read and parse the file; a file that cannot be read is a problem like any other."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        problem = f"{file}: cannot be read: {error.strerror or error}"
    except UnicodeDecodeError:
        problem = f"{file}: expected text in UTF-8"
    else:
        return parse_env_file(text, str(file))
    return EnvFile(Layer({}, (problem,), complete=False))


def parse_env_file(text: str, name: str) -> EnvFile:
    """Parse the text of a file called `name`; the last of several lines for a variable counts."""
    problems: list[str] = []
    lines = {line.name: line for line in _lines(text, name, problems) if line.value}
    reader = _Reader({line.name: line.value for line in lines.values()})
    for line in lines.values():
        reader.take(line)
    engine = reader.values.get("DOCKER_HOST", "")
    layer = layer_of(reader.texts, (*problems, *reader.problems))
    return EnvFile(layer, tuple(reader.story), engine)


def _lines(text: str, name: str, problems: list[str]) -> Iterator[Line]:
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            problems.append(f"{name}:{number}: expected NAME=VALUE, got {quoted(line)}")
        else:
            yield Line(match["name"], _unquoted(match["value"]), f"{name}:{number}")


def _unquoted(value: str) -> str:
    match = _QUOTED.fullmatch(value)
    return match["text"] if match else _COMMENT.sub("", value)


class _Reader:
    """Sorts the lines of one file into texts for keys and problems; notes what became of each."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.texts: list[tuple[Key, str, str]] = []
        self.problems: list[str] = []
        self.story: list[Became] = []
        self._keys = {key.dotted: key for key in every_key()}
        self._own = {key.variable: Variable((key.dotted,)) for key in self._keys.values()}

    def take(self, line: Line) -> None:
        variable = VARIABLES.get(line.name) or self._own.get(line.name)
        if variable is not None:
            self._use(line, variable)
        elif line.name.startswith(_FOREIGN):
            self.story.append(Became(line.name, line.value, (), "not used: for another tool"))
        else:
            ours = line.name.startswith(PREFIX)
            known = self._own if ours else VARIABLES
            self.problems.append(unknown_variable(line.name, known, line.place))

    def _use(self, line: Line, variable: Variable) -> None:
        try:
            value = variable.read(line.value, self.values)
        except ValueError as error:
            got = f"got {quoted(line.value)} ({line.place})"
            self.problems.append(f"{line.name}: expected {error}, {got}")
            return
        place = f"{line.place}, {line.name}"
        self.texts += [(self._keys[dotted], value, place) for dotted in variable.keys]
        became = tuple((dotted, value) for dotted in variable.keys)
        self.story.append(Became(line.name, line.value, became, variable.note))
