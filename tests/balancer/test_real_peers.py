"""Real clients and real servers through a real balancer process; bodies are compared by hash."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256

import pytest

from tests.balancer.peers import clients, servers
from tests.balancer.stage import GET
from tests.balancer.test_process import Balancer, balancer

pytestmark = pytest.mark.xdist_group("real peers")  # the tests share servers

LARGE = 4 << 20
SMALL = 3

needs_curl = pytest.param(clients.use_curl, marks=pytest.mark.needs("curl"), id="curl")
needs_nginx = pytest.param(servers.nginx, marks=pytest.mark.needs("nginx"), id="nginx")


@pytest.fixture(
    scope="module", params=[servers.uvicorn, servers.httptools, servers.gunicorn, needs_nginx]
)
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Balancer]:
    """A balancer in front of one worker, for each kind of worker."""
    with ExitStack() as stack:
        port = stack.enter_context(request.param(tmp_path_factory.mktemp("worker")))
        yield stack.enter_context(balancer("fixed", f"127.0.0.1:{port}"))


@pytest.mark.parametrize(
    ("chunked", "size"),
    [(False, SMALL), (False, LARGE), (True, LARGE)],
    ids=["small", "large", "chunked"],
)
@pytest.mark.parametrize(
    "use", [clients.use_httpx, clients.use_requests, clients.use_aiohttp, needs_curl]
)
def test_what_is_stored_comes_back(served: Balancer, use, chunked: bool, size: int) -> None:
    """Each client stores and fetches a body through each server, and the bytes are the same."""
    data = random.Random(size).randbytes(size)
    url = f"http://127.0.0.1:{served.port}/{use.__name__}-{chunked}-{size}"
    assert sha256(use(url, data, chunked)).digest() == sha256(data).digest()


def test_an_unknown_page_is_the_workers_404(served: Balancer) -> None:
    """A 404 from a worker reaches the client, and the connection stays open."""
    with served.call() as client:
        for _ in range(3):
            client.send(GET.replace(b"GET / ", b"GET /nothing "))
            answer = client.answer()
            assert answer.status == 404
            assert answer.get(b"via") == b"1.1 steelyard"
