"""Lossless reload, as an operator does it: edit the file and send SIGHUP."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time

import psutil

from steelyard.supervisor import reload
from steelyard.supervisor.plan import Order, agent_link
from steelyard.supervisor.supervise import Supervisor
from tests.balancer.authority import issue
from tests.balancer.control.test_agent_link import TOKEN, FakeAgent, queue
from tests.balancer.secure import secured
from tests.balancer.stage import GET, OK, PATIENCE, Conn, ScriptedWorker, always, until
from tests.e2e.load import Load
from tests.ports import free_port
from tests.supervisor.proxy import LONG, Proxy
from tests.supervisor.test_supervise import one_balancer


def named(name: bytes) -> ScriptedWorker:
    return ScriptedWorker(always(OK.replace(b"ok", name)))


def body(proxy: Proxy) -> bytes:
    with proxy.call() as client:
        client.send(GET)
        return client.answer().body


async def test_no_request_fails_over_many_reloads(proxy, worker):
    """No request on kept or new connections fails while the number of processes changes."""
    p = proxy(worker.port).start()
    kept, new = Load(p.port, "/"), Load(p.port, "/", keep=False)
    async with kept.running(), new.running():
        for processes in (3, 1, 2, 4, 1, 2):
            await asyncio.gather(kept.more(50), new.more(50))
            await asyncio.to_thread(p.reload, processes=processes)
        await asyncio.gather(kept.more(50), new.more(50))
    assert (kept.failed, new.failed) == ([], [])
    p.settles_at(2)
    assert p.close() == 0


async def test_a_download_goes_on_across_a_reload_and_a_stop(proxy):
    """A download is complete by its hash, though its process was replaced and then stopped."""
    piece = bytes(range(256)) * 256
    stopping = threading.Event()

    def slow(conn: Conn) -> None:
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (64 * len(piece)))
        for number in range(64):
            if number == 32:
                assert stopping.wait(LONG)
            conn.send(piece)

    w = ScriptedWorker(slow)
    p = proxy(w.port, processes=1).start()
    with p.call() as client:
        client.send(GET)
        client.head()
        p.reload()
        assert len(p.balancers()) == 2  # the old balancer has a download to finish
        p.process.terminate()
        p.settles_at(1)
        stopping.set()
        got = client.exactly(64 * len(piece))
    assert hashlib.sha256(got).digest() == hashlib.sha256(64 * piece).digest()
    assert p.process.wait(LONG) == 0
    w.close()


def test_a_websocket_lives_until_the_drain_ends(proxy):
    """A WebSocket works after a reload, until the drain of the old process ends."""

    def echo(conn: Conn) -> None:
        conn.request()
        conn.send(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
        )
        while conn.data or conn.more():
            conn.send(conn.exactly(len(conn.data)))

    w = ScriptedWorker(echo)
    p = proxy(w.port, processes=1, drain=6).start()
    with p.call() as client:
        client.send(
            b"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
        )
        assert client.head().status == 101
        p.reload()
        client.send(b"still here")
        assert client.exactly(10) == b"still here"
        assert client.ended()
    p.says("1 clients are cut off")
    p.settles_at(1)
    w.close()


def test_a_wrong_file_changes_nothing(proxy, worker):
    """A wrong file leads to a message, and the next reload may succeed."""
    p = proxy(worker.port, processes=1).start()
    before = p.balancers()
    for text, complaint in (
        ("[gateway]\npolcy = 1\n", "gateway.polcy: unknown key"),
        ("[gateway", "not TOML"),
        ("[gateway]\nprocesses = 1\n", "needs either workers or an agent"),
    ):
        p.file.write_text(text)
        p.hang_up()
        p.says(complaint)
        assert body(p) == b"ok"
    p.file.unlink()
    p.hang_up()
    p.says("cannot be read")
    assert (body(p), p.balancers()) == (b"ok", before)
    p.reload()
    assert body(p) == b"ok"
    p.settles_at(1)
    assert p.balancers() != before


def test_tls_after_a_reload(proxy, worker, tmp_path):
    """A reload with an unreadable certificate changes nothing; one with a good one does."""
    p = proxy(worker.port).start()
    certificate, key = issue(tmp_path, "a.org")
    p.configure(tls_cert=[str(tmp_path / "none.pem")])
    p.hang_up()
    p.says("the old configuration stays in force")
    assert body(p) == b"ok"
    p.reload(tls_cert=[str(certificate)], tls_key=[str(key)])
    p.settles_at(2)
    with secured(p.call()) as client:
        client.send(GET)
        assert client.answer().body == b"ok"


def test_other_workers_after_a_reload(proxy):
    """After a reload the workers are those of the file."""
    a, b = named(b"aa"), named(b"bb")
    p = proxy(a.port).start()
    assert {body(p) for _ in range(8)} == {b"aa"}
    p.reload(workers=[f"127.0.0.1:{b.port}"])
    p.settles_at(2)
    assert {body(p) for _ in range(8)} == {b"bb"}
    a.close()
    b.close()


def test_reloads_asked_for_during_one_are_one_more(proxy):
    """The last of several reloads wins, and in the end there is one generation."""
    workers = [named(b"%02d" % number) for number in range(4)]
    p = proxy(workers[0].port, processes=1).start()
    p.hang_up()
    while len(p.balancers()) == 1:
        time.sleep(0.005)
    for w in workers[1:]:
        p.configure(workers=[f"127.0.0.1:{w.port}"])
        p.hang_up()
        time.sleep(0.02)  # so that the kernel does not merge the signals
    p.says("reloaded:", 2)
    until(lambda: body(p) == b"03")
    p.settles_at(1)
    assert sum("reloaded:" in line for line in p.lines) < len(workers)
    for w in workers:
        w.close()


async def test_a_new_balancer_that_is_killed_is_started_again(proxy, worker):
    """The new generation waits for the restarted balancer while the old one serves."""
    p = proxy(worker.port).start()
    old = p.balancers()
    load = Load(p.port, "/", keep=False)
    async with load.running():
        p.hang_up()
        while not (new := [one for one in p.balancers() if one not in old]):
            await asyncio.sleep(0.005)
        new[0].kill()
        await asyncio.to_thread(p.says, "killed by SIGKILL")
        await asyncio.to_thread(p.says, "reloaded:")
        await load.more(50)
    assert load.failed == []
    p.settles_at(2)
    assert not {*p.balancers()} & {*old, new[0]}


async def test_another_address(proxy, worker):
    """Clients that connected at the old address are answered; later ones are refused there, and
    served at the new one."""
    p = proxy(worker.port).start()
    old, new = p.port, free_port()
    load = Load(old, "/", keep=False)
    async with load.running():
        await load.more(50)
        await asyncio.to_thread(p.reload, listen=f"127.0.0.1:{new}")
        while not load.errors:
            await asyncio.sleep(0.01)
    assert {error.partition("(")[0] for error in load.failed} == {"ConnectionRefusedError"}
    p.port = new
    assert body(p) == b"ok"


async def test_an_address_that_is_taken_changes_nothing(proxy, worker):
    """The gateway goes on at its old address if the new one is in use."""
    p = proxy(worker.port).start()
    p.configure(listen=f"127.0.0.1:{worker.port}")
    p.hang_up()
    p.says("is in use by another program")
    assert body(p) == b"ok"
    assert len(p.balancers()) == 2


async def test_a_stop_answers_whoever_was_let_in(proxy, worker):
    """Clients of a gateway that stops get an answer or are refused, but never a reset."""
    p = proxy(worker.port).start()
    load = Load(p.port, "/", connections=8, keep=False)
    async with load.running():
        await load.more(100)
        assert await asyncio.to_thread(p.close) == 0
        while not load.errors:
            await asyncio.sleep(0.01)
    assert {error.partition("(")[0] for error in load.failed} == {"ConnectionRefusedError"}


async def test_a_stop_during_a_reload(proxy, worker):
    """A stop during a reload ends both generations."""
    p = proxy(worker.port).start()
    p.hang_up()
    while len(everybody := p.balancers()) < 4:
        await asyncio.sleep(0.005)
    assert await asyncio.to_thread(p.close) == 0
    _, alive = psutil.wait_procs(everybody, timeout=PATIENCE)
    assert alive == []


def test_the_moment_it_says_so_it_serves(proxy, worker):
    """The gateway serves as soon as it says so, even if it must resolve a name (127.1) first."""
    p = proxy(workers=[f"127.1:{worker.port}"]).start()
    with p.call() as client:
        client.send(GET)
        assert client.answer().status == 200


async def test_without_a_queue_nobody_takes_over(tmp_path, worker, monkeypatch):
    """While the agent is away, the old balancers go on with its last queue."""
    tried = asyncio.Event()
    monkeypatch.setattr(reload, "patience", tried.wait)
    # One worker of tests/demo lives until the end of the test session.
    others = psutil.Process().children()
    settings = one_balancer().model_copy(update={"state": tmp_path})
    settings.token_file.write_text(TOKEN)
    agent = FakeAgent(r"/v1/queue\?balancer=balancer-0%40.*")
    await agent.open()
    said: list[str] = []
    address = settings.agent.listen._replace(port=agent.port)
    order = Order(settings, agent_link(settings, address))
    supervisor = Supervisor(order, said.append, lambda: order)
    supervisor.start()
    link = await agent.linked()
    await link.send(queue(1, worker.entry()))
    await supervisor.serving()
    supervisor.announce()
    await agent.close()
    assert supervisor.reload is not None
    supervisor.reload.ask()
    async with asyncio.timeout(LONG):
        while not any("no queue from the agent" in line for line in said):
            await asyncio.sleep(0.05)
        tried.set()
        while not any("are not ready after" in line for line in said):
            await asyncio.sleep(0.05)
    reader, writer = await asyncio.open_connection("127.0.0.1", supervisor.address.port)
    writer.write(GET)
    async with asyncio.timeout(PATIENCE):
        assert (await reader.readline()).split()[1] == b"200"
    writer.close()
    children = [child for child in psutil.Process().children() if child not in others]
    assert [child.pid for child in children] == [supervisor.balancers[0].pid]
    await supervisor.close()
