"""The run: a gateway, a client for the whole time, and one event after the other."""

from __future__ import annotations

import itertools
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from steelyard.bench import machine, tools
from steelyard.bench.launch import LaunchError
from steelyard.bench.noise import Quiet
from steelyard.bench.soak.client import Client
from steelyard.bench.soak.events import CYCLE, happen, settled
from steelyard.bench.soak.gateway import START, Gateway
from steelyard.bench.soak.report import Event, SoakReport
from steelyard.bench.watcher import Watcher
from steelyard.purity import is_compiled

WORKERS = 4
LAST = 3.0  # seconds; no event begins so close to the end, as its consequences must be seen


class SoakWish(NamedTuple):
    """The options that the user chose."""

    seconds: int
    rate: int
    connections: int
    install: bool
    command: str


def soak(wish: SoakWish, watcher: Watcher) -> SoakReport:
    """Do one run."""
    _prepare(wish, watcher)
    machine.raise_file_limit()
    with (
        tempfile.TemporaryDirectory(prefix="steelyard-soak-") as folder,
        Gateway(Path(folder), WORKERS) as gateway,
    ):
        watcher.tell("starting the fleet")
        if not gateway.wait_for(lambda told: settled(told, WORKERS), time.monotonic() + START):
            raise LaunchError(f"the fleet did not start: {gateway.last_words()}")
        watcher.begin(wish.seconds, "seconds of load")
        quiet = Quiet(range(machine.count()))
        with Client(
            gateway.port, wish.seconds, wish.connections, wish.rate, Path(folder)
        ) as client:
            events = _events(gateway, client, wish, watcher)
            counts = client.finish()
        return SoakReport(
            date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            machine=machine.describe(),
            command=wish.command,
            build="compiled" if is_compiled() else "pure Python",
            workers=WORKERS,
            connections=wish.connections,
            wanted=wish.rate,
            events=events,
            foreign=quiet.foreign(),
            mishaps=gateway.told(),
            **counts,
        )


def _events(gateway: Gateway, client: Client, wish: SoakWish, watcher: Watcher) -> list[Event]:
    """Let events happen until the client is done, and note its speed meanwhile."""
    clock = threading.Thread(target=_note_speed, args=(client, watcher), daemon=True)
    clock.start()
    events = []
    for kind in itertools.cycle(CYCLE):
        if time.monotonic() - client.began > wish.seconds - LAST:
            break
        watcher.tell(f"a worker is {kind.name}")
        events.append(happen(gateway, kind, WORKERS, client.began))
    clock.join()
    return events


def _note_speed(client: Client, watcher: Watcher) -> None:
    while not client.over:
        client.mark()
        time.sleep(1)
        watcher.step()


def _prepare(wish: SoakWish, watcher: Watcher) -> None:
    if wish.install:
        tools.install(["nginx", "wrk"], watcher.say)
    for program in ("nginx", "wrk"):
        if why := tools.why_missing(program):
            raise LaunchError(
                f"the soak needs nginx for its workers and wrk as its client: {why}",
                hint=f"on Debian, as root: apt-get install {program}",
            )
