"""The metrics of a gateway: real processes, real load, a real scrape."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from steelyard.balancer.process import fixed_queue
from steelyard.config.settings import Gateway, Settings
from steelyard.config.values import Address
from steelyard.core.accounts import Accounts
from steelyard.supervisor.metrics import PREFIX, expose
from steelyard.supervisor.plan import Order
from steelyard.supervisor.supervise import Supervisor
from tests.ports import free_port
from tests.waiting import until

ANY = Address("127.0.0.1", 0)
DOCUMENT = Path(__file__).parents[2] / "docs" / "metrics.md"
OPENMETRICS = "application/openmetrics-text; version=1.0.0"


async def talk(address: Address, request: bytes) -> tuple[int, str]:
    """Send one request on a connection of its own; return status and body of the answer."""
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(request)
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split(b" ")[1]), body.decode()


class Site:
    """Two workers, two balancers, and a port to scrape."""

    def __init__(self, supervisor: Supervisor, workers: list[str]) -> None:
        self.supervisor = supervisor
        self.workers = workers
        assert supervisor.scrape is not None
        self.port = supervisor.scrape.address
        self.metrics = f"http://{self.port}/metrics"

    async def scrape(self) -> list[Sample]:
        families = text_string_to_metric_families(await self.text())
        return [sample for family in families for sample in family.samples]

    async def text(self) -> str:
        status, body = await talk(self.port, b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        assert status == 200
        return body

    async def total(self, name: str, **labels: str) -> float:
        return total(await self.scrape(), name, **labels)


def total(samples: list[Sample], name: str, **labels: str) -> float:
    """The sum of all samples of a metric that have these labels."""
    return sum(
        sample.value
        for sample in samples
        if sample.name == PREFIX + name and labels.items() <= sample.labels.items()
    )


async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve as a worker that answers with the status in the path."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            status = head.split(b" ")[1].lstrip(b"/")
            writer.write(b"HTTP/1.1 %b Said\r\nContent-Length: 0\r\n\r\n" % status)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


@asynccontextmanager
async def open_site(tmp_path: Path) -> AsyncIterator[Site]:
    servers = [await asyncio.start_server(play, "127.0.0.1", 0) for _ in range(2)]
    workers = [f"127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in servers]
    gateway = Gateway(listen=ANY, metrics=ANY, processes=2)
    settings = Settings(gateway=gateway, state=tmp_path)
    supervisor = Supervisor(Order(settings, fixed_queue(workers)), lambda line: None)
    supervisor.start()
    made = Site(supervisor, workers)

    async def both() -> bool:
        return await made.total("processes") == 2

    await until(both)
    yield made
    await supervisor.close()
    for server in servers:
        server.close()


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(tmp_path) as made:
        yield made


async def ask(site: Site, paths: list[str]) -> Counter[int]:
    """Send requests one by one on connections of their own, so that both processes get some."""
    statuses: Counter[int] = Counter()
    for path in paths:
        request = f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        statuses[(await talk(site.supervisor.address, request.encode()))[0]] += 1
    return statuses


async def test_one_scrape_tells_of_all_processes(site: Site) -> None:
    """Counters only grow under load, and in the end they equal the answers of all clients."""
    paths = ["/200"] * 40 + ["/404"] * 6 + ["/503"] * 4
    clients = [asyncio.create_task(ask(site, paths)) for _ in range(4)]
    before: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    while not all(client.done() for client in clients):
        now = {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for sample in await site.scrape()
            if sample.name.endswith(("_total", "_bucket", "_count", "_sum"))
        }
        assert all(now[series] >= value for series, value in before.items())
        before = now
    told: Counter[int] = sum((client.result() for client in clients), Counter())
    assert told == {200: 160, 404: 24, 503: 16}

    async def all_told() -> bool:
        return await site.total("answers_total") >= 200

    await until(all_told)
    samples = await site.scrape()
    classes = {key: total(samples, "answers_total", **{"class": key}) for key in ("2xx", "5xx")}
    assert classes == {"2xx": 160, "5xx": 16}
    assert total(samples, "answers_total", **{"class": "4xx"}) == 24
    assert total(samples, "answer_seconds_count") == 200
    for worker in site.workers:
        buckets = [
            (float(sample.labels["le"]), sample.value)
            for sample in samples
            if sample.name == PREFIX + "answer_seconds_bucket" and sample.labels["worker"] == worker
        ]
        assert [count for _, count in sorted(buckets)] == sorted(count for _, count in buckets)
        answered = total(samples, "answers_total", worker=worker)
        assert sorted(buckets)[-1] == (float("inf"), answered)
        assert total(samples, "answer_seconds_count", worker=worker) == answered > 0
    shares = [
        sum(sum(work.done.statuses) for work in account.workers)
        for account in site.supervisor.scrape._board.accounts.live.values()
    ]
    assert len(shares) == 2
    assert min(shares) > 0  # each process served some of the requests


async def test_a_killed_balancer_takes_nothing_with_it(site: Site) -> None:
    """The last account of a killed balancer still counts, and its successor adds to it."""
    await ask(site, ["/200"] * 50)

    async def counted() -> bool:
        return await site.total("answers_total") == 50

    await until(counted)
    victim = site.supervisor.balancers[0].pid
    assert victim is not None
    os.kill(victim, signal.SIGKILL)

    async def died() -> bool:
        samples = await site.scrape()
        assert total(samples, "answers_total") == 50
        return total(samples, "processes") == 1 or total(samples, "starts_total") == 3

    await until(died)

    async def replaced() -> bool:
        samples = await site.scrape()
        assert total(samples, "answers_total") == 50
        return total(samples, "processes") == 2

    await until(replaced)
    assert await site.total("starts_total") == 3
    await ask(site, ["/200"] * 20)

    async def more() -> bool:
        return await site.total("answers_total") == 70

    await until(more)
    assert await site.total("answer_seconds_count") == 70


async def test_a_balancer_that_is_stopped_tells_all_before_it_ends(site: Site) -> None:
    """A balancer that is stopped sends a last account before it ends."""
    await ask(site, ["/200"] * 30)
    for child in site.supervisor.balancers:
        assert child.pid is not None
        os.kill(child.pid, signal.SIGTERM)

    async def replaced() -> bool:
        samples = await site.scrape()
        return (total(samples, "starts_total"), total(samples, "processes")) == (4, 2)

    await until(replaced)
    assert await site.total("answers_total") == 30


SQUATTER = """
import socket, sys
taken = socket.socket(socket.AF_UNIX)
taken.bind(chr(0) + sys.argv[1])
taken.listen()
print("taken", flush=True)
taken.accept()
"""


@contextmanager
def squatting(name: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that listens at this abstract name, and ends when a client connects."""
    command = [sys.executable, "-c", SQUATTER, name]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as squatter:
        try:
            assert squatter.stdout is not None
            assert squatter.stdout.readline() == b"taken\n"
            yield squatter
        finally:
            squatter.kill()


async def test_nobody_can_take_the_name_of_the_board_first(tmp_path: Path) -> None:
    """The name of the board cannot be guessed from the supervisor's pid."""
    with squatting(f"steelyard-board-{os.getpid()}") as squatter:
        async with open_site(tmp_path) as site:
            await ask(site, ["/200"] * 10)

            async def told() -> bool:
                return await site.total("answers_total") == 10

            await until(told)
        assert squatter.poll() is None  # no balancer connected to it


async def test_openmetrics_for_those_who_ask(site: Site) -> None:
    """A scrape that accepts OpenMetrics, as Prometheus does, gets it."""
    async with httpx.AsyncClient() as client:
        answer = await client.get(site.metrics, headers={"Accept": OPENMETRICS + ";q=0.5,*/*"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    names = {family.name for family in read_openmetrics(answer.text)}
    assert PREFIX + "answer_seconds" in names


async def test_other_questions_are_answered_in_kind(site: Site) -> None:
    """Other paths are answered 404, and other methods 405."""
    async with httpx.AsyncClient() as client:
        assert (await client.get(site.metrics + "x")).status_code == 404
        assert (await client.post(site.metrics)).status_code == 405
        head = await client.head(site.metrics)
        assert (head.status_code, head.content) == (200, b"")
        assert (await client.get(site.metrics + "?name[]=x")).status_code == 200


async def test_every_metric_is_documented(site: Site) -> None:
    """docs/metrics.md lists exactly these metrics with their types and labels."""
    await ask(site, ["/200", "/404"])
    assert (await talk(site.supervisor.address, b"nonsense\r\n\r\n"))[0] == 400

    async def all_told() -> bool:
        return await site.total("own_answers_total") == 1

    await until(all_told)
    real = {
        (sample.name, family.type, frozenset(sample.labels) - {"le"})
        for family in text_string_to_metric_families(await site.text())
        for sample in family.samples
        if not sample.name.endswith(("_bucket", "_sum"))
    }
    listed = set()
    for line in DOCUMENT.read_text().splitlines():
        if match := re.match(rf"\| `({PREFIX}\w+)` \| (\w+) \|([^|]*)\|", line):
            name, kind, labels = match.groups()
            name += "_count" if kind == "histogram" else ""
            listed.add((name, kind, frozenset(re.findall(r"`(\w+)`", labels))))
    assert listed == real


def test_before_any_balancer_has_told_anything_there_is_little_to_say() -> None:
    """The metrics of a gateway without accounts are few, but well-formed."""
    text, kind = expose(Accounts(), "any", "")
    assert kind.startswith("text/plain")
    families = {family.name for family in text_string_to_metric_families(text.decode())}
    assert PREFIX + "processes" in families


async def test_counters_go_on_across_a_reload(proxy, worker) -> None:
    """A reload keeps the counters of the old generation, and the address of the metrics."""
    where, other = Address("127.0.0.1", free_port()), Address("127.0.0.1", free_port())
    p = proxy(worker.port, metrics=str(where)).start()

    async def told(answers: int, processes: int) -> bool:
        _, text = await talk(where, b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        samples = [one for family in text_string_to_metric_families(text) for one in family.samples]
        now = (total(samples, "answers_total"), total(samples, "processes"))
        return now == (answers, processes)

    async def get(many: int) -> None:
        for _ in range(many):
            request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            assert (await talk(Address("127.0.0.1", p.port), request))[0] == 200

    await get(20)
    await asyncio.to_thread(p.reload, processes=3, metrics=str(other))
    p.says("reload: only a restart changes gateway.metrics")
    await get(10)
    await until(lambda: told(30, 3))
    assert p.close() == 0


async def test_balancers_of_the_next_supervisor_tell_its_board(proxy, worker) -> None:
    """The counters begin at 0 with a new supervisor, whose balancers connect to its board."""
    where = Address("127.0.0.1", free_port())
    p = proxy(worker.port, metrics=str(where)).start()
    p.process.kill()
    p.process.wait()
    await asyncio.to_thread(p.start)
    await asyncio.to_thread(p.says, "the old balancers have ended")

    async def both() -> bool:
        _, text = await talk(where, b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        samples = [one for family in text_string_to_metric_families(text) for one in family.samples]
        return total(samples, "processes") == 2

    await until(both)
    assert p.close() == 0
