"""Tests of TLS handshakes: what is negotiated, and which handshakes fail."""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
import subprocess
from pathlib import Path

import pytest

from steelyard.balancer.downstream import shedding
from steelyard.balancer.downstream.handshake import Handshake
from tests.balancer.authority import root_file, trusting
from tests.balancer.secure import Hands, call, secured, tls_stage
from tests.balancer.stage import GET, PATIENCE, Stage, always, until

V1 = b"PROXY TCP4 192.0.2.7 192.0.2.1 1000 443\r\n"
LOOPBACK = {"trusted_proxies": ["127.0.0.1"], "proxy_protocol": "on"}
openssl = pytest.mark.needs("openssl")


def s_client(scene: Stage, folder: Path, *options: str, say: bytes = b"") -> str:
    """The output of `openssl s_client`."""
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{scene.port}", *options]
    command += ["-servername", "a.org", "-CAfile", str(root_file(folder)), "-verify_return_error"]
    done = subprocess.run(command, input=say, capture_output=True, timeout=PATIENCE, check=False)
    return (done.stdout + done.stderr).decode(errors="replace")


def hello(context: ssl.SSLContext | None = None) -> bytes:
    """The ClientHello of a client."""
    outgoing = ssl.MemoryBIO()
    tls = (context or trusting()).wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="a.org")
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    return outgoing.read()


# What is negotiated


def test_the_newest_version_and_protocol(tmp_path: Path) -> None:
    """TLS 1.3 and HTTP/1.1 are negotiated, though the client offers HTTP/2, without compression."""
    with tls_stage(tmp_path, always()) as s, call(s) as client:
        assert isinstance(client.sock, ssl.SSLSocket)
        assert client.sock.version() == "TLSv1.3"
        assert client.sock.selected_alpn_protocol() == "http/1.1"
        assert client.sock.compression() is None


@openssl
@pytest.mark.parametrize("old", ["-tls1", "-tls1_1"])
def test_old_versions_are_refused(tmp_path: Path, old: str) -> None:
    """A client that offers only TLS 1.0 or 1.1 gets the alert protocol_version."""
    with tls_stage(tmp_path, always()) as s:
        told = s_client(s, tmp_path, old, "-cipher", "ALL:@SECLEVEL=0")
        assert "alert protocol version" in told
        until(lambda: s.plane.front.unshaken == 1)


@openssl
@pytest.mark.parametrize("weak", ["AES128-SHA", "ECDHE-ECDSA-AES128-SHA", "AES256-GCM-SHA384"])
def test_weak_ciphers_are_refused(tmp_path: Path, weak: str) -> None:
    """A cipher without forward secrecy or without authenticated encryption is refused."""
    with tls_stage(tmp_path, always()) as s:
        assert "handshake failure" in s_client(s, tmp_path, "-tls1_2", "-cipher", weak)


@openssl
def test_the_client_chooses_among_good_ciphers(tmp_path: Path) -> None:
    """The client's order of ciphers counts: it knows which ones its machine computes fast."""
    with tls_stage(tmp_path, always()) as s:
        for chosen in ("ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES256-GCM-SHA384"):
            order = f"{chosen}:ECDHE-ECDSA-AES128-GCM-SHA256"
            assert f"Cipher is {chosen}" in s_client(s, tmp_path, "-tls1_2", "-cipher", order)


@openssl
def test_no_renegotiation(tmp_path: Path) -> None:
    """A TLS 1.2 client that asks for a renegotiation is refused."""
    with tls_stage(tmp_path, always()) as s:
        told = s_client(s, tmp_path, "-tls1_2", say=b"R\n")
        assert "RENEGOTIATING" in told
        assert "no renegotiation" in told


@openssl
@pytest.mark.parametrize("which", ["-tls1_2", "-tls1_3"])
def test_a_session_is_taken_up_again(tmp_path: Path, which: str) -> None:
    """A session is resumed by its ticket, in the process that issued the ticket."""
    ask = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with tls_stage(tmp_path, always()) as s:
        kept = str(tmp_path / "session")
        first = s_client(s, tmp_path, which, "-ign_eof", "-sess_out", kept, say=ask)
        again = s_client(s, tmp_path, which, "-ign_eof", "-sess_in", kept, say=ask)
        assert "New, TLSv1" in first
        assert "Reused, TLSv1" in again
        assert "200 OK" in again


# Handshakes that fail


def test_a_slow_handshake_is_cut(tmp_path: Path) -> None:
    """A handshake has the time limit of a head, however steadily its bytes come."""
    with tls_stage(tmp_path, always(), head_timeout=0.3) as s, s.call() as client:
        client.sock.settimeout(0.03)
        for number in hello():
            client.send(bytes([number]))
            with contextlib.suppress(TimeoutError):
                assert not client.more()
                break
        else:
            pytest.fail("it had all the time in the world")
        until(lambda: s.plane.front.unshaken == 1)


def test_a_silent_client_is_cut(tmp_path: Path) -> None:
    """A client that sends nothing is cut off, and does not count as a failed handshake."""
    with tls_stage(tmp_path, always(), head_timeout=0.2) as s, s.call() as client:
        assert client.ended()
        assert s.plane.front.unshaken == 0


def test_a_client_silent_after_the_handshake_is_cut(tmp_path: Path) -> None:
    """The first head after the handshake has a time limit, too."""
    with tls_stage(tmp_path, always(), head_timeout=PATIENCE) as s, call(s) as client:
        until(lambda: not any(isinstance(one, Handshake) for one in s.handlers()))
        s.time_out(s.plane.front.clients)
        assert client.rest() == b""


@pytest.mark.parametrize("rude", [False, True], ids=["fin", "reset"])
@pytest.mark.parametrize("part", [1, 0.5, 0.01])
def test_gone_in_the_handshake(tmp_path: Path, part: float, rude: bool) -> None:
    """A client that leaves within the handshake is counted, and the next client is served."""
    with tls_stage(tmp_path, always()) as s:
        client, whole = s.call(), hello()
        client.send(whole[: int(len(whole) * part)])
        until(lambda: bool(s.plane.front.clients))
        if rude:
            client.reset()
        else:
            client.sock.close()
        until(lambda: not s.plane.front.clients)
        assert s.plane.front.unshaken == 1
        with call(s) as other:
            other.send(GET)
            assert other.answer().status == 200


@pytest.mark.parametrize(
    "words",
    [b"\x00" * 100, b"\x80\x2e\x01\x03\x01", b"\x16\x03\x01\xff\xff" + b"x" * 20000, b"\xff"],
    ids=["zeros", "ssl2", "too long", "byte"],
)
def test_garbage(tmp_path: Path, words: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """Garbage instead of a handshake is cut off, counted and logged only at level DEBUG."""
    caplog.set_level(logging.DEBUG)
    with tls_stage(tmp_path, always()) as s, s.call() as client:
        client.send(words)
        with contextlib.suppress(ConnectionResetError):
            assert client.rest()[:1] in (b"", b"\x15")  # nothing, or an alert
        until(lambda: s.plane.front.unshaken == 1)
    mine = [record for record in caplog.records if record.name.endswith("handshake")]
    assert [record.levelname for record in mine] == ["DEBUG"]
    assert "127.0.0.1" in mine[0].message
    assert not any(record.exc_info for record in caplog.records)


@pytest.mark.parametrize("words", [GET, b"G", b"POST / HTTP/1.0\r\n\r\n", b"x"])
def test_plain_http(tmp_path: Path, words: bytes) -> None:
    """A client that speaks plain HTTP gets a 400 in plain HTTP, and no worker is called."""
    with tls_stage(tmp_path, always()) as s, s.call() as client:
        client.send(words)
        answer = client.answer()
        assert answer.status == 400
        assert b"https://" in answer.body
        assert client.ended()
        assert s.worker.bytes == b""


def test_plain_http_is_in_the_access_log(tmp_path: Path) -> None:
    """The note of a plain HTTP request has method, host, target and id; its answer has the id."""
    ask = b"PUT /a?b HTTP/1.1\r\nHost: a.org\r\nContent-Length: 3\r\n\r\nabc"
    with tls_stage(tmp_path, always(), access_log="-") as s, s.call() as client:
        client.send(ask)
        answer = client.answer()
        access_log = s.plane.front.access_log
        assert access_log is not None
        [note] = access_log.take(2)
        assert (note.status, note.size, note.outcome) == (400, len(answer.body), "refused")
        assert note.head is not None
        assert (note.head.method, note.head.target) == (b"PUT", b"/a?b")
        assert note.head.host == b"a.org"
        assert note.head.request_id
        assert answer.get(b"x-request-id") == note.head.request_id


@pytest.mark.parametrize("words", [b"G", b"GET / HTTP/1.1", b"nonsense\r\n\r\n"])
def test_plain_text_without_a_first_line_is_in_the_access_log(tmp_path: Path, words: bytes) -> None:
    """For plain text without a readable request line only the client and the answer are noted."""
    with tls_stage(tmp_path, always(), access_log="-") as s, s.call() as client:
        client.send(words)
        assert client.answer().status == 400
        access_log = s.plane.front.access_log
        assert access_log is not None
        [note] = access_log.take(2)
        assert (note.peer, note.head, note.status) == (b"127.0.0.1", None, 400)


def test_an_untrusted_client(tmp_path: Path) -> None:
    """A client that rejects the balancer's certificate counts as a failed handshake."""
    with tls_stage(tmp_path, always()) as s:
        stranger = ssl.create_default_context()
        with (
            s.call() as wire,
            pytest.raises(ssl.SSLCertVerificationError),
        ):
            stranger.wrap_socket(wire.sock, server_hostname="a.org")
        until(lambda: s.plane.front.unshaken == 1)


# Handshakes behind a proxy


@pytest.mark.parametrize("piece", [1, 1 << 20])
@pytest.mark.parametrize("together", [True, False])
def test_greeting_then_handshake(tmp_path: Path, together: bool, piece: int) -> None:
    """A plain PROXY header precedes the handshake, also within the same segment."""
    with tls_stage(tmp_path, always(), **LOOPBACK) as s:
        client = Hands(s.call())
        client.wire.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if together:
            client.before = V1
        else:
            client.push(V1, piece)
        client.push(client.shake(piece), piece)
        client.push(client.sealed(GET))
        assert client.read(b"ok").startswith(b"HTTP/1.1 200")
        seen = s.worker.seen[0]
        assert seen.get(b"x-forwarded-for") == b"192.0.2.7"
        assert seen.get(b"x-forwarded-proto") == b"https"
        client.wire.sock.close()


def test_plain_http_behind_a_proxy(tmp_path: Path) -> None:
    """Plain HTTP after a PROXY header is refused with 400 as well."""
    with tls_stage(tmp_path, always(), **LOOPBACK) as s, s.call() as client:
        client.send(V1 + GET)
        assert client.answer().status == 400


def test_a_crowd(tmp_path: Path) -> None:
    """The limit on connections per client counts connections in the handshake."""
    with tls_stage(tmp_path, always(), client_connections=1) as s, s.call() as first:
        assert s.cuts_off()
        secured(first).send(GET)
        assert first.answer().status == 200


def test_slow_handshakes_do_not_shut_others_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When there is no room for a new client, clients with half a handshake are closed."""
    monkeypatch.setattr(shedding, "GRACE", (-1.0,) * 4)  # no client is spared for being new
    with tls_stage(tmp_path, always(), connections=3) as s, contextlib.ExitStack() as places:
        for _ in range(3):
            places.enter_context(s.call()).send(hello()[:20])
        until(lambda: len(s.plane.front.clients) == 3)
        with call(s) as client:
            client.send(GET)
            assert client.answer().status == 200
