"""Sticky sessions as a browser has them: real workers, several balancer processes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import httpx
import pytest

from tests.e2e.gateway import free_port
from tests.supervisor.proxy import LONG, Proxy


@pytest.fixture
def demos():
    """Three demo workers, keyed by port."""
    made = {port: demo(port) for port in (free_port() for _ in range(3))}
    for port in made:
        wait_for(port)
    yield made
    for process in made.values():
        process.kill()
        process.wait()


def demo(port: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "steelyard.demo", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def wait_for(port: int) -> None:
    end = time.monotonic() + LONG
    while True:
        try:
            assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200
        except httpx.TransportError:
            assert time.monotonic() < end
            time.sleep(0.05)
        else:
            return


@pytest.fixture
def proxy(tmp_path, demos):
    made = Proxy(tmp_path, list(demos), processes=3, sticky="cookie").start()
    yield made
    made.close()


def browser(proxy: Proxy) -> httpx.Client:
    """A client with cookies, but without kept connections: any process may get the next request."""
    return httpx.Client(
        base_url=f"http://127.0.0.1:{proxy.port}", headers={"Connection": "close"}, timeout=LONG
    )


def worker_of(client: httpx.Client) -> int:
    answer = client.get("/whoami")
    assert answer.status_code == 200, answer.text
    return answer.json()["port"]


def test_sessions_outlive_processes_reloads_and_restarts(proxy, demos, tmp_path):
    """All processes share one secret, so a session keeps its worker."""
    clients = [browser(proxy) for _ in range(6)]
    homes = [worker_of(client) for client in clients]
    assert {worker_of(client) for client in clients for _ in range(4)} == {*homes}
    for change in ("none", "reload", "restart"):
        if change == "reload":
            proxy.reload(processes=2)
        if change == "restart":
            assert proxy.close() == 0
            proxy.start()
        for client, home in zip(clients, homes, strict=True):
            assert {worker_of(client) for _ in range(6)} == {home}
    assert len({*homes}) > 1


def test_a_killed_worker_means_a_new_one(proxy, demos):
    """The session moves to another worker, and stays there even when the first one is back."""
    with browser(proxy) as client:
        home = worker_of(client)
        demos[home].send_signal(signal.SIGKILL)
        demos[home].wait()
        second = worker_of(client)
        assert second != home
        assert {worker_of(client) for _ in range(12)} == {second}
        demos[home] = demo(home)
        wait_for(home)
        assert {worker_of(client) for _ in range(12)} == {second}
        assert len(client.cookies) == 1
