"""Links of one process: which peers may join, and what the others are told."""

from __future__ import annotations

import errno
import queue
import socket
import threading
import time
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import zenoh

from steelyard.errors import UsageError
from steelyard.mesh.certs import make_members
from steelyard.mesh.transport.acquaintances import Missing
from steelyard.mesh.transport.base import Peer, Trouble
from steelyard.mesh.transport.chunks import CAP
from steelyard.mesh.transport.endpoints import Endpoint
from steelyard.mesh.transport.security import Security
from steelyard.mesh.transport.zenoh import doubts, healing, sockets
from steelyard.mesh.transport.zenoh.config import new_identity
from steelyard.mesh.transport.zenoh.link import LinkError, ZenohLink
from steelyard.mesh.transport.zenoh.sockets import GIVE_UP, ends_of, hasten
from tests.contract.transports import PATIENCE, eventually

Open = Callable[..., ZenohLink]


@pytest.fixture
def links(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open links that are closed after the test, and that look for trouble soon."""
    monkeypatch.setattr(doubts, "FIRST", 0.2)
    opened: list[ZenohLink] = []

    def make(**options: Any) -> ZenohLink:
        opened.append(ZenohLink(**options))
        return opened[-1]

    yield make
    for link in opened:
        link.close()


@pytest.fixture(scope="module")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of two members of one mesh, and of one member of another."""
    folder = tmp_path_factory.mktemp("certs")
    make_members(folder, ["alpha", "beta"], 1, renew=False)
    make_members(folder / "other", ["stranger"], 1, renew=False)
    return folder


def security(folder: Path, *members: str) -> Security:
    return Security(folder / "ca.pem", folder / "node.pem", folder / "node.key", members)


def trouble(link: ZenohLink) -> str:
    """The text of the next trouble."""
    told: queue.Queue[Trouble] = queue.Queue()
    link.watch_trouble(told.put)
    return told.get(timeout=PATIENCE).text


def knows(one: ZenohLink, other: ZenohLink) -> bool:
    return other.identity in one.peers() and one.identity in other.peers()


def test_members_of_a_mesh_are_linked_over_tls(links: Open, certs: Path) -> None:
    """Both sides show a certificate, and a query is answered."""
    one = links(listen=["127.0.0.1:0"], security=security(certs / "alpha"))
    assert one.locators[0].startswith("tls/")
    two = links(join=one.locators, security=security(certs / "beta"))
    eventually(lambda: knows(one, two))
    told: queue.Queue[bytes] = queue.Queue()
    one.serve(lambda query: query.reply(b"yes, " + query.sender.encode()))

    def ask() -> bytes:
        two.ask(one.identity, b"?", told.put, lambda why: told.put(b""))
        return told.get(timeout=PATIENCE)

    assert eventually(ask) == b"yes, " + two.identity.encode()


def test_a_certificate_of_another_mesh_is_refused(links: Open, certs: Path) -> None:
    """The trouble says whose certificate is wrong, and there is no link."""
    one = links(security=security(certs / "alpha"))
    stranger = links(join=one.locators, security=security(certs / "other" / "stranger"))
    assert "our mesh's authority did not sign" in trouble(stranger)
    assert one.peers() == stranger.peers() == []


def test_who_shows_a_certificate_of_another_mesh_is_refused(links: Open, certs: Path) -> None:
    """A certificate of another authority is refused although its owner trusts ours."""
    one = links(security=security(certs / "alpha"))
    theirs = certs / "other" / "stranger"
    forged = Security(certs / "ca.pem", theirs / "node.pem", theirs / "node.key")
    stranger = links(join=one.locators, security=forged)
    told: list[Trouble] = []
    stranger.watch_trouble(told.append)
    eventually(lambda: told or stranger.peers())
    assert one.peers() == stranger.peers() == []
    assert "refuses our certificate" in told[0].text


def test_who_has_no_certificate_is_told_to_get_one(links: Open, certs: Path) -> None:
    """A link without TLS is told to use certificates, and gets no peer."""
    one = links(security=security(certs / "alpha"))
    plain = links(join=[one.locators[0].replace("tls/", "tcp/")])
    assert "wants TLS with certificates" in trouble(plain)
    assert one.peers() == plain.peers() == []


def test_only_members_that_are_named_are_heard(links: Open, certs: Path) -> None:
    """With named members, a certificate of the mesh is not enough."""
    one = links(security=security(certs / "alpha", "alpha"))
    other = links(join=one.locators, security=security(certs / "beta"))
    same = links(join=one.locators, security=security(certs / "alpha"))
    eventually(lambda: knows(one, same))
    eventually(lambda: knows(same, other))
    assert not knows(one, other)


def test_nodes_of_two_versions_say_so(links: Open) -> None:
    """Both sides report the other's version, and neither is a peer of the other."""
    old = links(version="0")
    new = links(join=old.locators)
    assert "speaks version 1" in trouble(old)
    assert "speaks version 0" in trouble(new)
    assert old.peers() == new.peers() == []


def test_a_node_of_another_version_is_told_of_once(links: Open) -> None:
    """Another version is reported once, and not again when its node goes."""
    told: list[Trouble] = []
    one = links()
    one.watch_trouble(told.append)
    for version in ("0", "2"):
        stranger = links(version=version, join=one.locators)
        eventually(lambda: any(stranger.identity in trouble.text for trouble in told))  # noqa: B023
        stranger.close()
    assert ["version 0" in told[0].text, "version 2" in told[1].text] == [True, True]


def test_meshes_of_two_names_do_not_mix(links: Open) -> None:
    """Meshes of different names do not mix, even if they join the same node."""
    seed, other = links(mesh="one"), None
    other = links(mesh="two", join=seed.locators)
    third = links(mesh="one", join=seed.locators)
    eventually(lambda: knows(seed, third))
    assert other.identity not in [*seed.peers(), *third.peers()]
    assert other.peers() == []


def test_nobody_there_is_said(links: Open) -> None:
    """If nobody listens, that is reported, and joining goes on."""
    gone = links()
    where = gone.locators
    gone.close()
    assert "cannot be joined yet" in trouble(links(join=where))


@pytest.mark.parametrize("lease", [0.1, float("inf"), float("nan")])
def test_a_lease_has_limits(links: Open, lease: float) -> None:
    """A lease outside the limits is refused, as Zenoh counts it in milliseconds."""
    with pytest.raises(UsageError, match="a lease of"):
        links(lease=lease)


def test_a_shortage_does_not_end_the_healing(
    links: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A lack of descriptors is logged, and healing goes on."""
    one = links()
    two = links(join=one.locators)
    eventually(lambda: knows(one, two))
    healer, failing = one._healing, threading.Event()
    failing.set()

    def due(now: float) -> list[Missing]:
        if failing.is_set():
            raise OSError(errno.EMFILE, "too many open files")
        return []

    monkeypatch.setattr(healer._known, "due", due)
    eventually(lambda: "cannot be made now: [Errno 24] too many open files" in caplog.text)
    failing.clear()
    before = healer._compared
    eventually(lambda: healer._compared > before)


def test_a_port_in_use_is_an_error(links: Open) -> None:
    """A port in use is an error that names the address."""
    one = links()
    with pytest.raises(LinkError, match="cannot listen on"):
        links(listen=one.locators)


def test_a_missing_file_is_an_error_of_the_users(certs: Path) -> None:
    """A missing file is reported before any peer refuses us."""
    with pytest.raises(UsageError, match="is not there"):
        ZenohLink(security=security(certs / "nobody"))


def test_a_cut_is_noticed_by_the_kernel(links: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ends of a link have the timeout on their sockets."""
    seen: list[int] = []

    def counted(ends: sockets.Ends, but: Container[int] = ()) -> list[int]:
        found = hasten(ends, but)
        seen.append(len(found))
        return found

    monkeypatch.setattr(sockets, "hasten", counted)
    one = links()
    two = links(join=one.locators)
    eventually(lambda: knows(one, two))
    eventually(lambda: len(seen) >= 2)
    assert min(seen) >= 1
    assert GIVE_UP < 2000


def limits(link: ZenohLink) -> list[tuple[int, ...]]:
    """The socket options of a link's connections that detect a dead peer."""
    found: list[tuple[int, ...]] = []
    options = (socket.TCP_USER_TIMEOUT, socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL)

    def look(one: socket.socket) -> None:
        limits = [one.getsockopt(socket.IPPROTO_TCP, option) for option in options]
        found.append((one.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE), *limits))

    for each in link._session.info.links():
        sockets._each(ends_of(each), look)
    return found


def test_the_kernel_asks_by_itself_whether_the_other_side_is_there(links: Open) -> None:
    """The kernel sends keep-alive probes each second, however long the lease."""
    one = links()
    two = links(join=one.locators)
    eventually(lambda: knows(one, two))
    eventually(lambda: all(limits(link) == [(1, GIVE_UP, 1, 1)] for link in (one, two)))


def test_who_closes_is_not_missing(links: Open) -> None:
    """A link that closed is not missing; one that vanished is tried again for ten minutes."""
    one = links()
    two = links(join=one.locators)
    eventually(lambda: knows(one, two))
    two.close()
    eventually(lambda: not one.peers() and two.identity in one._healing._known._left)
    assert one._healing._known.missing == []


def test_nothing_is_kept_of_what_came_in_pieces(links: Open) -> None:
    """Pieces are forgotten after the last of them, and when their sender is gone."""
    one = links()
    two = links(join=one.locators)
    eventually(lambda: knows(one, two))
    one.serve(lambda query: query.reply(b"%d" % len(query.payload)))
    told: queue.Queue[bytes] = queue.Queue()

    def ask() -> bytes:
        two.ask(one.identity, bytes(CAP + 1), told.put, lambda why: told.put(b""))
        return told.get(timeout=PATIENCE)

    assert eventually(ask) == b"%d" % (CAP + 1)
    assert one._serving._pieces == {two.identity: {}}
    two.close()
    eventually(lambda: not one._serving._pieces)


def test_who_watches_later_sees_the_same(links: Open) -> None:
    """A late watcher sees all other links."""
    one = links()
    one.announce("watcher")
    two = links(join=one.locators)
    two.announce("worker", b"info")
    first, second = queue.Queue[Peer](), queue.Queue[Peer]()
    for seen in (first, second):
        one.watch(seen.put, lambda peer: None)
        assert seen.get(timeout=PATIENCE) == Peer(two.identity, "worker", b"info")
    two.announce("worker", b"more")
    for seen in (first, second):
        assert seen.get(timeout=PATIENCE) == Peer(two.identity, "worker", b"more")


def test_whom_only_a_neighbour_sees_is_found(links: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that only a neighbour sees is found by comparing."""
    monkeypatch.setattr(healing, "DEAF", 0.1)
    one = links()
    two, three = (links(join=one.locators) for _ in range(2))
    eventually(lambda: all(len(link.peers()) == 2 for link in (one, two, three)))
    with three._healing._changed:  # as if it had never heard of that node
        del three._healing._known._linked[two.identity]
    eventually(lambda: knows(two, three))


def test_nobody_is_introduced_to_themselves(links: Open) -> None:
    """A node is not introduced to its own address, which may be another machine's loopback."""
    one = links()
    asked: list[Sequence[str]] = []
    configure = one._healing._configure

    def spy(found: Sequence[str]) -> zenoh.Config:
        asked.append(found)
        return configure(found)

    one._healing._configure = spy
    one._healing._try([Missing("other", tuple(one.locators), 0.0, 0.0)])
    assert asked == []


def test_a_broken_query_is_refused(links: Open) -> None:
    """A malformed query is refused with the reason."""
    one = links()
    one.serve(lambda query: query.reply(b""))
    (told,) = one._session.get(one._serving._key, attachment=b"?")
    assert told.err is not None
    assert told.err.payload.to_string().startswith("a broken query")


def test_a_link_that_brings_no_word_is_made_anew(
    links: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link whose announcements were lost is made anew."""
    monkeypatch.setattr(healing, "DEAF", 0.1)
    one = links()
    two = links(join=one.locators)
    eventually(lambda: knows(one, two))
    deaf = two._healing
    with deaf._changed:  # as if the announcement had been lost
        deaf._known.vanish(one.identity, time.monotonic())
        deaf._changed.notify_all()
    eventually(lambda: deaf.cuts and knows(one, two))


def test_a_link_that_still_brings_nothing_is_cut_more_seldom(
    links: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link that still brings nothing is cut less and less often, and forgotten in the end."""
    one = links()
    two = links(join=one.locators)
    eventually(lambda: knows(one, two))
    healer = one._healing
    monkeypatch.setattr(healer, "_cut", lambda identity: None)
    now = time.monotonic()
    monkeypatch.setattr(healing, "DEAF", 10.0)
    monkeypatch.setattr(healing.time, "monotonic", lambda: clock)
    node = Missing(two.identity, tuple(two.locators), now, now)
    cuts = []
    for second in range(100):
        clock = now + second
        healer._without_link([node])
        cuts.append(node.cuts)
    assert [cuts.index(count) for count in (1, 2, 3)] == [11, 32, 73]
    assert node.since == now


def test_a_closed_link_asks_nothing(links: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed link sends no more pieces, as its peer would keep them."""
    one = links()
    sent: list[object] = []
    monkeypatch.setattr(one._asking, "get", lambda *what: sent.append(what))
    one.close()
    one.ask("somebody", b"x", lambda _: None, lambda _: None)
    assert sent == []


def test_who_can_be_reached_from_its_own_machine_only_connects_to_others() -> None:
    """A node on loopback has the greater identity, so that it connects; the last byte
    counts most.
    """
    inside, outside = Endpoint("tcp", "127.0.0.1", 1), Endpoint("tcp", "192.0.2.1", 1)
    for _ in range(100):
        greater, less = new_identity([inside]), new_identity([inside, outside])
        assert bytes.fromhex(greater)[::-1] > bytes.fromhex(less)[::-1]
