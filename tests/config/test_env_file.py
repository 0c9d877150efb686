"""RustyBalancer's `.env`: every variable becomes a key, or a note says why it does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.config.env_file import (
    RUSTY_BALANCER,
    VARIABLES,
    EnvFile,
    parse_env_file,
    read_env_file,
)
from steelyard.config.load import load_settings
from steelyard.config.settings import Settings
from steelyard.config.values import Address
from steelyard.errors import UsageError

# The variables that RustyBalancer's documentation lists, with the published defaults.
PUBLISHED = """\
#DEFAULTS
DOCKER_HOST=unix:///var/run/docker.sock
HOST_PORT_WS_DEPLOYMENT_AGENT=2547
HOST_PORT_WS_BALANCER=2551
HOST_PORT_HTTP_DEPLOYMENT_AGENT=2550
HOST_PORT_HTTP_BALANCER=2548
PORT_DASHBOARD=8501
DOCKER_SOCKET_VOLUME=/var/run/docker.sock
DOCKER_IMAGE=mxmller/rustybalancer-playground:latest
TARGET_PORT=5000
DEFAULT_CONTAINER=5
APP_IDENTIFIER=RUSTYBALANCER
REDIS_PORT=6379
REDIS_HOST=redis
REDIS_INSIGHT_PORT=5540

HIGH_LOAD_THRESHOLD=55.0
LOW_LOAD_THRESHOLD=80.0
CRITICAL_LOAD_THRESHOLD=20.0
MAX_CONTAINERS=15
COOLDOWN_PERIOD=6
SCALE_STEP=2
SCALE_CHECK_PERIOD=10
CPU_WEIGHT=0.4
MEMORY_WEIGHT=0.3
NETWORK_WEIGHT=0.1
AVAILABILITY_WEIGHT=0.2
HISTORY_SIZE=21
BEST_TIME_WINDOW=11
EMA_ALPHA=0.25
REQUEST_TIMEOUT=20
CACHE_CAPACITY=100
"""


ROOT = Path(__file__).parents[2]


def load(text: str, **flags: str) -> Settings:
    dotted = {name.replace("__", "."): value for name, value in flags.items()}
    return load_settings(None, {}, dotted, env_file=parse_env_file(text, ".env").layer)


def problems(text: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        load(text)
    lines = str(caught.value).splitlines()
    return [line.strip() for line in (lines[1:] if len(lines) > 1 else lines)]


def outcomes(found: EnvFile) -> dict[str, str]:
    return {one.name: ", ".join(f"{k} = {v}" for k, v in one.keys) for one in found.story}


def test_the_published_file() -> None:
    """Scores become utilizations, ports are bound to loopback, and two variables make one store."""
    it = load(PUBLISHED)
    assert it.application.name == "rustybalancer"
    assert it.runtime.kind == "docker"
    assert (it.runtime.image, it.runtime.port) == ("mxmller/rustybalancer-playground:latest", 5000)
    scaling = it.scaling
    assert (scaling.min, scaling.max, scaling.up, scaling.down) == (5, 15, 2, 2)
    assert (scaling.low, scaling.high, scaling.critical, scaling.cooldown) == (20, 45, 80, 6)
    score = it.score
    assert (score.cpu, score.memory, score.network, score.availability) == (0.4, 0.3, 0.1, 0.2)
    assert (score.history, score.best, score.smoothing) == (21, 11, 0.25)
    assert it.gateway.listen == Address("127.0.0.1", 2548)
    assert it.gateway.answer_timeout == 20
    assert it.agent.listen == Address("127.0.0.1", 2550)
    assert it.store.url == "redis://redis:6379"


def test_everything_in_it_is_told() -> None:
    """The story has the keys of each variable or the reason why it is not used."""
    found = parse_env_file(PUBLISHED, ".env")
    told = outcomes(found)
    assert told.keys() == RUSTY_BALANCER.keys() - {"PORT_GRAFANA", "HOST_PORT_BALANCER"}
    assert told["HIGH_LOAD_THRESHOLD"] == "scaling.high = 45"
    assert told["SCALE_STEP"] == "scaling.up = 2, scaling.down = 2"
    assert all(one.keys or one.note for one in found.story)
    assert found.engine == "unix:///var/run/docker.sock"


def test_lines_as_people_write_them() -> None:
    """Quotes, comments, `export` and blanks are understood; an empty variable counts as not set."""
    it = load(
        "export DOCKER_IMAGE='shop:2' # the newest\n TARGET_PORT = 80 # http\n\n# SCALE_STEP=9\n"
        'APP_IDENTIFIER="My shop"\nDEFAULT_CONTAINER=\nDEFAULT_CONTAINER=2\nMAX_CONTAINERS=\n'
    )
    assert (it.runtime.image, it.runtime.port, it.application.name) == ("shop:2", 80, "my-shop")
    assert (it.scaling.min, it.scaling.max) == (2, 8)


def test_our_own_variables_stand_in_it_too() -> None:
    """The file may have our own variables, and those of Compose."""
    text = "COMPOSE_PROJECT_NAME=shop\nSTEELYARD_SCALING_DWELL_UP=2s\nDEFAULT_CONTAINER=2\n"
    assert load(text).scaling.dwell_up == 2
    assert outcomes(parse_env_file(text, ".env"))["COMPOSE_PROJECT_NAME"] == ""


@pytest.mark.parametrize("file", ["compose.yaml", "stack.yaml"])
def test_a_file_for_compose_is_one_for_us(file: str) -> None:
    """Every variable that compose.yaml and stack.yaml use is known."""
    taken = set(re.findall(r"\$\{(\w+)", (ROOT / file).read_text()))
    assert "DOCKER_IMAGE" in taken
    assert taken <= VARIABLES.keys()


def test_a_flag_wins_over_it() -> None:
    """A flag wins over a variable of the env file."""
    assert load("MAX_CONTAINERS=15\n", scaling__max="9").scaling.max == 9


def test_it_stands_between_the_file_and_the_environment(tmp_path: Path) -> None:
    """The env file wins over steelyard.toml, and the environment wins over the env file."""
    file = tmp_path / "steelyard.toml"
    file.write_text("[scaling]\nmin = 2\nmax = 11\n")
    layer = parse_env_file("DEFAULT_CONTAINER=3\nMAX_CONTAINERS=12\n", ".env").layer
    it = load_settings(file, {"STEELYARD_SCALING_MAX": "13"}, {}, env_file=layer)
    assert (it.scaling.min, it.scaling.max) == (3, 13)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (
            "DOCKR_IMAGE=shop",
            "DOCKR_IMAGE: unknown environment variable (.env:1) → did you mean DOCKER_IMAGE?",
        ),
        (
            "STEELYARD_SCALING_MXA=1",
            "STEELYARD_SCALING_MXA: unknown environment variable (.env:1) "
            "→ did you mean STEELYARD_SCALING_MAX?",
        ),
        (
            "HIGH_LOAD_THRESHOLD=155",
            'HIGH_LOAD_THRESHOLD: expected a score 0…100, got "155" (.env:1)',
        ),
        (
            "HIGH_LOAD_THRESHOLD=nan",
            'HIGH_LOAD_THRESHOLD: expected a score 0…100, got "nan" (.env:1)',
        ),
        (
            "HOST_PORT_HTTP_BALANCER=http",
            'HOST_PORT_HTTP_BALANCER: expected a port, 1…65535, got "http" (.env:1)',
        ),
        (
            "MAX_CONTAINERS=many",
            'scaling.max: expected a whole number ≥ 1, got "many" (.env:1, MAX_CONTAINERS)',
        ),
        ("DOCKER_IMAGE", '.env:1: expected NAME=VALUE, got "DOCKER_IMAGE"'),
        (
            "MAX_CONTAINERS=3",
            "scaling.min = 4 (default), scaling.max = 3 (.env:1, MAX_CONTAINERS): "
            "expected min ≤ max",
        ),
    ],
)
def test_what_is_wrong_names_itself(line: str, problem: str) -> None:
    """A message has the variable, its line, and what was expected or the nearest name."""
    assert problems(line) == [problem]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A missing env file is an error."""
    layer = read_env_file(tmp_path / ".env").layer
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        load_settings(None, {}, {}, env_file=layer)
