"""Nodes, and clients that they do not work for."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from queue import Queue

import pytest

from steelyard import mesh
from steelyard.errors import UsageError
from steelyard.mesh import codec
from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.execution.wire import pack_call
from steelyard.mesh.protocol import crew, unserved
from steelyard.mesh.protocol.messages import VERSION, Grant, Order, Pull
from steelyard.mesh.status import ask_everybody
from steelyard.mesh.transport.base import Peer, Query
from steelyard.mesh.transport.memory import Network
from tests.mesh import jobs
from tests.mesh.conftest import MODULE, PATIENCE, new_node
from tests.waiting import wait_until

DOUBLE, NOTHING = f"{MODULE}:double", pack_call()


@pytest.fixture
def own() -> Iterator[Network]:
    """A network of this test's own."""
    network = Network()
    yield network
    network.close()


def test_a_node_that_leaves_finishes_and_gives_back(own: Network, tmp_path: Path) -> None:
    """A node that leaves brings the results of running units, gives back the others, and repeats
    none.
    """
    runs, gate = tmp_path / "runs", tmp_path / "gate"
    runs.mkdir()
    leaving = new_node(own, procs=1)
    client = mesh.Client(link=own.link())
    job = client.map(jobs.wait_for, [str(gate)])
    others = client.map(jobs.mark, [str(runs)] * 20, range(20))
    wait_until(lambda: list(tmp_path.glob("*.began")), PATIENCE)
    staying = new_node(own, procs=1)
    assert not leaving.leave(0.05)
    gate.touch()
    assert leaving.leave(PATIENCE)
    leaving.close()
    assert job.values(PATIENCE) == [str(gate)]
    assert others.values(PATIENCE) == list(range(20))
    assert len(list(runs.iterdir())) == 20
    client.close()
    staying.close()


def test_a_newcomer_does_not_wait_for_what_a_child_has_ahead(own: Network, tmp_path: Path) -> None:
    """A newcomer's unit is next although the child had a hundred units of another client ahead."""
    runs, gate = tmp_path / "runs", tmp_path / "gate"
    runs.mkdir()
    node = new_node(own, procs=1)
    old, new = own.link(), own.link()
    with mesh.Client(link=old) as first, mesh.Client(link=new) as second:
        first.map(jobs.double, range(200)).values(PATIENCE)  # so that units are known to be short
        many = first.map(jobs.mark_after, [str(gate)] * 100, [str(runs)] * 100, range(100))
        customers = node._crew.customers
        wait_until(lambda: len(customers[old.identity].running) > 20, PATIENCE)
        status = node.status()
        assert status["running"] == 1
        assert status["waiting"] >= 20  # type: ignore[operator]
        one = second.map(jobs.mark_after, [str(gate)], [str(runs)], [100])
        wait_until(lambda: len(customers[old.identity].running) == 1, PATIENCE)
        gate.touch()
        assert one.values(PATIENCE) == [100]
        assert many.values(PATIENCE) == list(range(100))
    node.close()
    order = sorted(runs.iterdir(), key=lambda run: int(run.suffix[1:]))
    assert [int(run.name.split(".")[0]) for run in order[:2]] == [0, 100]


def test_nobody_waits_behind_a_unit_that_takes_long(own: Network, tmp_path: Path) -> None:
    """Newcomers are served although one child runs a long unit and the other has many to do."""
    gate = tmp_path / "gate"
    node = new_node(own, procs=2)
    with mesh.Client(link=own.link()) as first:
        first.map(jobs.double, range(200)).values(PATIENCE)  # so that units are known to be short
        first.map(jobs.wait_for, [str(gate)])
        wait_until(lambda: list(tmp_path.glob("*.began")), PATIENCE)
        many = first.map(jobs.snooze, [0.001] * 100_000)
        for number in range(20):
            with mesh.Client(link=own.link()) as newcomer:
                assert newcomer.map(jobs.double, [number]).values(PATIENCE) == [2 * number]
        many.cancel()
        gate.touch()
    node.close()


def test_a_unit_is_redone_when_its_node_is_gone(own: Network, tmp_path: Path) -> None:
    """A unit is run again when its node is gone or cut off, and a late result is dropped."""
    gate = tmp_path / "gate"
    first = new_node(own, procs=1)
    link = own.link()
    client = mesh.Client(link=link)
    job = client.map(jobs.wait_for, [str(gate)])
    wait_until(lambda: list(tmp_path.glob("*.began")), PATIENCE)
    own.cut(link.identity, first._link.identity)
    second = new_node(own, procs=1)
    wait_until(lambda: len(list(tmp_path.glob("*.began"))) == 2, PATIENCE)
    gate.touch()
    assert job.values(PATIENCE) == [str(gate)]
    own.heal()
    assert client.wait_for_workers(2, PATIENCE)
    assert client.map(jobs.double, range(40)).values(PATIENCE) == list(range(0, 80, 2))
    for one in (client, first, second):
        one.close()


def test_a_lossy_network_loses_no_unit(own: Network) -> None:
    """Each unit is answered once although queries and answers are lost, doubled and delayed."""
    own.loss, own.duplication, own.delay = 0.1, 0.1, (0.0, 0.01)
    nodes = [new_node(own), new_node(own)]
    client = mesh.Client(link=own.link())
    answers = list(client.map(jobs.double, range(200)).as_completed(PATIENCE))
    assert sorted(answer.key for answer in answers) == list(range(200))
    assert all(answer.ok for answer in answers)
    for one in (client, *nodes):
        one.close()


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (Order(1, "os:getcwd", NOTHING), b"os:getcwd is not served"),
        (Order(1, DOUBLE, NOTHING, memory=1e9), b"is not a whole number of bytes"),  # type: ignore[arg-type]
        (Order(1, DOUBLE, NOTHING, "soon"), b"is not a number of seconds"),  # type: ignore[arg-type]
    ],
)
def test_a_node_runs_only_what_it_serves_and_can(own: Network, order: Order, said: bytes) -> None:
    """A node refuses functions that it does not serve, whatever a client sends."""
    link = own.link()
    pulls: list[object] = []

    def answer(query: Query) -> None:
        _, rest = codec.read_query(query.payload)
        pull = codec.read_pull(rest)
        pulls.extend(pull.results)
        query.reply(codec.pack(Grant((order,) if pull.idle and not pulls else ())))

    link.serve(answer)
    link.announce(codec.CLIENT, codec.pack(codec.Card("rogue")))
    node = new_node(own, procs=1)
    wait_until(lambda: pulls, PATIENCE)
    (result,) = pulls
    assert result.kind is Kind.UNKNOWN  # type: ignore[attr-defined]
    assert said in result.value  # type: ignore[attr-defined]
    node.close()


@pytest.mark.parametrize(("size", "times"), [(50_000, 2), (100_000, 0)])
def test_the_thread_that_reads_does_nothing_large(own: Network, size: int, times: int) -> None:
    """The reading thread leaves large grants and large results to the loop, as its own writes might
    wait for the other side.
    """
    node = new_node(own, procs=1)
    threads: list[str] = []
    start_all = node._pool.start_all

    def spy(batch: object) -> None:
        threads.append(threading.current_thread().name)
        start_all(batch)  # type: ignore[arg-type]

    node._pool.start_all = spy  # type: ignore[method-assign]
    with mesh.Client(link=own.link()) as client:
        for _ in range(3):
            value = client.submit(jobs.repeat, "x" * size, times).result(PATIENCE)
            assert len(value) == times * size
    node.close()
    assert set(threads[1:]) == {"steelyard-node"}


def test_a_busy_node_that_is_called_comes(own: Network, tmp_path: Path) -> None:
    """A busy node that is called pulls for as many units as the client said."""
    link = own.link()
    pulls: Queue[Pull] = Queue()
    gate = str(tmp_path / "gate")
    short = Order(1, f"{MODULE}:double", pack_call(1))
    long = Order(2, f"{MODULE}:wait_for", pack_call(gate))

    def answer(query: Query) -> None:
        pull = codec.read_pull(codec.read_query(query.payload)[1])
        pulls.put(pull)
        orders = (long if pull.results else short,) if pull.idle else ()
        query.reply(codec.pack(Grant(orders, more=True)))

    link.serve(answer)
    link.announce(codec.CLIENT, codec.pack(codec.Card("caller")))
    node = new_node(own, procs=1)
    wait_until(lambda: list(tmp_path.glob("*.began")), PATIENCE)
    called = codec.pack((codec.CALL, 500))
    link.ask(node._link.identity, called, lambda _: None, lambda why: None)
    while (pull := pulls.get(timeout=PATIENCE)).holding != (2,):
        pass
    assert pull.want >= 500
    Path(gate).touch()
    node.close()


def test_too_many_functions_are_told_before_anything_is_started(own: Network) -> None:
    """Too many functions for one announcement give an error before anything is started."""
    names = tuple(f"a.module.somewhere:function_{number}" for number in range(2000))
    with pytest.raises(UsageError, match="2000 functions are too many"):
        new_node(own, functions=names)


def test_another_version_is_left_alone_and_told(
    own: Network, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both sides log what to do about another version, and no unit waits for such a node."""
    monkeypatch.setattr(unserved, "PATIENCE", 0.2)
    caplog.set_level(logging.WARNING)
    node = new_node(own, procs=1, version=VERSION + 1, release="9.9")
    client = mesh.Client(link=own.link())
    wait_until(lambda: "speaks version" in caplog.text, PATIENCE)
    assert "install the same steelyard" in caplog.text
    assert client.workers() == 0
    with pytest.raises(mesh.UnitRefusedError, match=f"speaks version {VERSION + 1} of the mesh"):
        client.submit(jobs.double, 2).result(PATIENCE)
    client.close()
    node.close()


def test_a_later_version_may_say_more_of_itself() -> None:
    """The version of a longer announcement is understood."""
    card = codec.pack((*codec.Card("later", version=VERSION + 1), "something new"))
    with pytest.raises(codec.VersionError, match="node later speaks version"):
        codec.meet(Peer("abc", codec.NODE, card))


def test_an_earlier_version_is_another_version() -> None:
    """An earlier version is refused, because it would not understand our messages."""
    card = codec.pack(codec.Card("earlier", version=VERSION - 1))
    with pytest.raises(codec.VersionError, match="node earlier speaks version"):
        codec.meet(Peer("abc", codec.NODE, card))


def test_nonsense_is_refused(own: Network) -> None:
    """Nodes and clients refuse a malformed query with the reason, and go on."""
    node = new_node(own, procs=1)
    client = mesh.Client(link=own.link())
    link = own.link()
    failures: list[str] = []
    for identity in (node._link.identity, client._link.identity):
        for query in ((), {}, ("sing",), (codec.PULL, 1)):
            link.ask(identity, codec.pack(query), lambda _: None, failures.append)
        for payload in (b"", b"\xc1"):
            link.ask(identity, payload, lambda _: None, failures.append)
    for query in ((codec.CALL, inf), (codec.STOP, (inf,))):
        link.ask(node._link.identity, codec.pack(query), lambda _: None, failures.append)
    wait_until(lambda: len(failures) == 14, PATIENCE)
    assert not any("see its log" in one for one in failures)
    assert any("does not know “sing”" in one for one in failures)
    assert client.submit(jobs.double, 2).result(PATIENCE) == 4
    client.close()
    node.close()


def test_a_grant_that_cannot_be_read_is_a_failure(
    own: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a malformed grant the client is asked again when it has rested."""
    monkeypatch.setattr(crew, "REFRESH", 10 * PATIENCE)
    link = own.link()
    pulls: Queue[Query] = Queue()
    link.serve(pulls.put)
    link.announce(codec.CLIENT, codec.pack(codec.Card("rogue")))
    node = new_node(own, procs=1)
    pulls.get(timeout=PATIENCE).reply(codec.pack("nonsense"))
    pulls.get(timeout=PATIENCE)
    node.close()


def test_who_does_not_tell_is_told_of(own: Network) -> None:
    """Peers that answer with nonsense, or not at all, are listed as silent."""
    rogue, mute = own.link(), own.link()
    rogue.serve(lambda query: query.reply(b"\xc1"))
    for link in (rogue, mute):
        link.announce(codec.NODE, codec.pack(codec.Card("node")))
    told = ask_everybody(own.link(), PATIENCE)
    assert told.nodes == []
    assert sorted(told.silent) == sorted((rogue.identity, mute.identity))


def test_who_comes_and_goes_keeps_nobody_from_answering(own: Network) -> None:
    """The survey ends although peers come and go, and a peer that left is not listed as silent."""
    node, asker = new_node(own, procs=1), own.link()
    over = threading.Event()

    def come_and_go() -> None:
        while not over.is_set():
            link = own.link()
            link.announce(codec.CLIENT, codec.pack(codec.Card("brief")))
            over.wait(0.02)
            link.close()

    passing = threading.Thread(target=come_and_go)
    passing.start()
    told = ask_everybody(asker, 4.0)
    over.set()
    passing.join()
    assert [one["name"] for one in told.nodes] == ["node"]
    assert len(told.silent) < 5  # some may have been there at the end
    node.close()


def test_everybody_tells_what_they_do(
    network: Network, new_client: Callable[..., mesh.Client]
) -> None:
    """Nodes and clients report their status to any link."""
    client = new_client(name="the client", weight=2.0)
    client.map(jobs.double, range(10)).values(PATIENCE)
    told = ask_everybody(network.link(), PATIENCE)
    assert [one["procs"] for one in told.nodes] == [2, 2]
    assert sum(one["done"] for one in told.nodes) >= 10
    mine = next(one for one in told.clients if one["name"] == "the client")
    assert (mine["done"], mine["weight"], mine["todo"]) == (10, 2.0, 0)
    assert told.silent == []
