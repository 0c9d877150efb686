"""Tests of the PROXY protocol: good and bad headers, arbitrary bytes, and real connections."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.http.proxy_protocol import LONGEST_V1, LONGEST_V2, Header, parse
from steelyard.config.settings import Gateway
from steelyard.errors import MalformedError
from tests.balancer.stage import GET, always, stage, until

SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
V4 = bytes([192, 0, 2, 1, 198, 51, 100, 2]) + struct.pack("!HH", 1234, 80)
V6 = bytes.fromhex("20010db8" + "00" * 11 + "07") + bytes(16) + struct.pack("!HH", 1, 2)


def v2(command: int, family: int, rest: bytes, length: int | None = None) -> bytes:
    size = len(rest) if length is None else length
    return SIGNATURE + struct.pack("!BBH", command, family, size) + rest


def tlv(kind: int, value: bytes) -> bytes:
    return struct.pack("!BH", kind, len(value)) + value


GOOD: dict[str, tuple[bytes, str | None, bool]] = {
    "v1 tcp4": (b"PROXY TCP4 192.0.2.1 198.51.100.2 1234 80\r\n", "192.0.2.1", False),
    "v1 tcp6": (b"PROXY TCP6 2001:DB8::7 ::1 0 65535\r\n", "2001:db8::7", False),
    "v1 unknown": (b"PROXY UNKNOWN\r\n", None, False),
    "v1 unknown, with more": (b"PROXY UNKNOWN ffff:f::1 whatever 1 2\r\n", None, False),
    "v2 local": (v2(0x20, 0x00, b""), None, False),
    "v2 local, address ignored": (v2(0x20, 0x11, V4), None, False),
    "v2 unspec": (v2(0x21, 0x00, b"abc"), None, False),
    "v2 tcp4": (v2(0x21, 0x11, V4), "192.0.2.1", False),
    "v2 tcp6": (v2(0x21, 0x21, V6), "2001:db8::7", False),
    "v2 unix": (v2(0x21, 0x31, bytes(216)), None, False),
    "v2 extension": (v2(0x21, 0x11, V4 + tlv(0x02, b"host")), "192.0.2.1", False),
    "v2 tls": (v2(0x21, 0x11, V4 + tlv(1, b"h2") + tlv(0x20, b"\1\0\0\0\0")), "192.0.2.1", True),
    "v2 no tls": (v2(0x21, 0x11, V4 + tlv(0x20, b"\0\0\0\0\0")), "192.0.2.1", False),
}

BAD: dict[str, bytes] = {
    "http": GET,
    "lower case": b"proxy TCP4 192.0.2.1 198.51.100.2 1 2\r\n",
    "two spaces": b"PROXY  TCP4 192.0.2.1 198.51.100.2 1 2\r\n",
    "trailing space": b"PROXY TCP4 192.0.2.1 198.51.100.2 1 2 \r\n",
    "bare LF": b"PROXY TCP4 192.0.2.1 198.51.100.2 1 2\n",
    "no ports": b"PROXY TCP4 192.0.2.1 198.51.100.2\r\n",
    "port too high": b"PROXY TCP4 192.0.2.1 198.51.100.2 65536 2\r\n",
    "port with a zero before": b"PROXY TCP4 192.0.2.1 198.51.100.2 01 2\r\n",
    "negative port": b"PROXY TCP4 192.0.2.1 198.51.100.2 -1 2\r\n",
    "address with zeros before": b"PROXY TCP4 192.0.02.1 198.51.100.2 1 2\r\n",
    "family mixed up": b"PROXY TCP4 ::1 ::1 1 2\r\n",
    "family mixed up, 6": b"PROXY TCP6 192.0.2.1 198.51.100.2 1 2\r\n",
    "bad destination": b"PROXY TCP4 192.0.2.1 198.51.100.256 1 2\r\n",
    "scope": b"PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n",
    "other family": b"PROXY UDP4 192.0.2.1 198.51.100.2 1 2\r\n",
    "unknown and more letters": b"PROXY UNKNOWNS\r\n",
    "too long": b"PROXY UNKNOWN " + b"x" * LONGEST_V1,
    "v2 version": v2(0x11, 0x11, V4),
    "v2 command": v2(0x22, 0x11, V4),
    "v2 datagrams": v2(0x21, 0x12, V4),
    "v2 family": v2(0x21, 0x41, V4),
    "v2 cut address": v2(0x21, 0x11, V4[:-1]),
    "v2 too long": v2(0x21, 0x11, b"", length=LONGEST_V2 + 1),
    "v2 cut extension": v2(0x21, 0x11, V4 + b"\1\0"),
    "v2 extension longer than all": v2(0x21, 0x11, V4 + b"\1\0\5abc"),
}


@pytest.mark.parametrize("name", GOOD)
def test_good_headers(name: str) -> None:
    """Each good header is read, whatever follows, and a part of it is incomplete."""
    raw, source, tls = GOOD[name]
    assert parse(raw + GET) == Header(len(raw), source, tls)
    for end in range(len(raw)):
        assert parse(raw[:end]) is None


@pytest.mark.parametrize("name", BAD)
def test_bad_headers(name: str) -> None:
    """Each bad header is refused."""
    with pytest.raises(MalformedError):
        parse(BAD[name])


@given(st.binary(max_size=64), st.sampled_from([b"", b"PROXY ", b"PROXY TCP4 ", SIGNATURE]))
def test_any_bytes(tail: bytes, start: bytes) -> None:
    """More bytes never change the outcome once a header is read or refused."""
    try:
        header = parse(start + tail)
    except MalformedError:
        with pytest.raises(MalformedError):
            parse(start + tail + b"x")
        return
    if header is not None:
        assert header.size <= len(start + tail)
        assert parse(start + tail + b"x") == header


@given(st.ip_addresses(v=4), st.ip_addresses(v=4), st.integers(0, 65535), st.integers(0, 65535))
def test_both_versions_say_the_same(source: object, to: object, one: int, two: int) -> None:
    """The same address in either version of the protocol is read as the same address."""
    line = f"PROXY TCP4 {source} {to} {one} {two}\r\n".encode()
    binary = v2(0x21, 0x11, source.packed + to.packed + struct.pack("!HH", one, two))
    for raw in (line, binary):
        header = parse(raw)
        assert header is not None
        assert (header.size, header.source) == (len(raw), str(source))


# Tests of real connections, on which the peer is 127.0.0.1

ON = {"proxy_protocol": "on", "trusted_proxies": ["127.0.0.0/8"]}
LINE = GOOD["v1 tcp4"][0]


@pytest.mark.parametrize("name", GOOD)
def test_the_address_is_forwarded(name: str) -> None:
    """X-Forwarded-For shows the address in the PROXY header, for all requests of the connection."""
    raw, source, tls = GOOD[name]
    with stage(always(), **ON) as s, s.call() as client:
        client.send(raw + GET)
        assert client.answer().status == 200
        client.send(GET)
        assert client.answer().status == 200
        for seen in s.worker.seen:
            assert seen.get(b"x-forwarded-for") == (source or "127.0.0.1").encode()
            assert seen.get(b"x-forwarded-proto") == (b"https" if tls else b"http")


def test_the_client_behind_it_is_not_believed() -> None:
    """Trust in a proxy is not trust in the client whose address its PROXY header names."""
    request = GET[:-2] + b"X-Forwarded-For: 1.1.1.1\r\n\r\n"
    with stage(always(), **ON) as s, s.call() as client:
        client.send(LINE + request)
        assert client.answer().status == 200
        assert s.worker.seen[0].get(b"x-forwarded-for") == b"192.0.2.1"
    with stage(always(), proxy_protocol="on", trusted_proxies=["127.0.0.1", "192.0.2.0/24"]) as s:
        s.get(LINE + request)
        assert s.worker.seen[0].get(b"x-forwarded-for") == b"1.1.1.1, 192.0.2.1"


def test_byte_by_byte() -> None:
    """A PROXY header is read correctly when it arrives byte by byte."""
    with stage(always(), **ON) as s, s.call() as client:
        for code in GOOD["v2 tcp4"][0] + GET:
            client.send(bytes([code]))
        assert client.answer().status == 200
        assert s.worker.seen[0].get(b"x-forwarded-for") == b"192.0.2.1"


@pytest.mark.parametrize("name", BAD)
def test_bad_headers_end_the_connection(name: str) -> None:
    """A bad header closes the connection without an answer: the peer may not speak HTTP."""
    with stage(always(), **ON) as s, s.call() as client:
        client.send(BAD[name])
        assert client.ended()
        assert s.worker.accepted == 0


def test_strangers_send_no_header() -> None:
    """An untrusted client must not send a PROXY header, and gets a 400 if it does."""
    with stage(always(), proxy_protocol="on", trusted_proxies=["10.0.0.0/8"]) as s:
        assert s.get(GET).status == 200
        assert s.get(LINE + GET).status == 400
        assert len(s.worker.seen) == 1


def test_no_header_when_it_is_off() -> None:
    """With `proxy_protocol` off a trusted proxy gets a 400 for a PROXY header."""
    with stage(always(), trusted_proxies=["127.0.0.0/8"]) as s:
        assert s.get(LINE + GET).status == 400


def test_a_header_must_come_in_time() -> None:
    """A proxy that does not complete its header in time is disconnected."""
    with stage(always(), head_timeout=0.1, **ON) as s, s.call() as client:
        client.send(LINE[:10])
        assert client.ended()


def test_a_proxy_that_leaves() -> None:
    """A proxy that connects and closes, as health checks do, leaves no client behind."""
    with stage(always(), **ON) as s, s.call() as client:
        until(lambda: len(s.plane.front.clients) == 1)
        client.sock.close()
        until(lambda: not s.plane.front.clients)


def test_a_stop_does_not_mistake_it() -> None:
    """A PROXY header that arrives while the balancer stops is still read."""
    with stage(always(), **ON) as s, s.call() as client:
        until(lambda: len(s.plane.front.clients) == 1)
        s.plane.stop()
        until(lambda: s.plane.front.draining)
        client.send(LINE + GET)
        assert client.answer().status == 200
        assert s.worker.seen[0].get(b"x-forwarded-for") == b"192.0.2.1"


def test_it_needs_trusted_proxies() -> None:
    """The setting `proxy_protocol` without trusted proxies, which accepts no header, is refused."""
    with pytest.raises(ValueError, match="expected trusted_proxies"):
        Gateway(proxy_protocol="on")
