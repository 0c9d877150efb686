"""Tests of what workers are told about the origin of a request, and of which claims count."""

from __future__ import annotations

import pytest

from steelyard.balancer.http.origin import Manner, Origin, plain_address
from tests.balancer.reading import request_head
from tests.balancer.stage import GET, Message, Stage, always, once, stage

CLAIMS = (
    b"X-Forwarded-For: 1.1.1.1, 2.2.2.2",
    b"x-forwarded-for: 3.3.3.3",
    b"X-Forwarded-Proto: https",
    b"X-FORWARDED-HOST: b.org",
    b"Forwarded: for=1.1.1.1;proto=https",
    b"forwarded: for=2.2.2.2",
    b"X-Request-ID: theirs-1",
)
PEER = "192.0.2.7"


def lines(*claims: bytes, forwarded: str = "x-forwarded", trusted: bool = False) -> list[bytes]:
    """The fields that a worker gets about the origin of a request with these claims."""
    head = request_head(b"\r\n".join((b"GET / HTTP/1.1", b"Host: a.org:81", *claims)))
    origin = Origin(PEER, b"", b"http", Manner(forwarded, (), b"p"), trusted)
    return origin.lines(head).split(b"\r\n")[1:]


OURS = [
    b"X-Forwarded-For: 192.0.2.7",
    b"X-Forwarded-Proto: http",
    b"X-Forwarded-Host: a.org:81",
]
ELEMENT = b'for=192.0.2.7;host="a.org:81";proto=http'


def test_strangers_are_not_believed() -> None:
    """An untrusted client's claims are replaced by the balancer's own view, in each form."""
    for claims in ((), CLAIMS):
        assert lines(*claims) == OURS
        assert lines(*claims, forwarded="forwarded") == [b"Forwarded: " + ELEMENT]
        assert lines(*claims, forwarded="both") == [*OURS, b"Forwarded: " + ELEMENT]


def test_trusted_proxies_are_believed() -> None:
    """The balancer appends the proxy's address, and keeps the scheme and host of the claims."""
    theirs = [
        b"X-Forwarded-For: 1.1.1.1, 2.2.2.2, 3.3.3.3",
        b"X-Forwarded-Proto: https",
        b"X-Forwarded-Host: b.org",
        b"Forwarded: for=1.1.1.1;proto=https, for=2.2.2.2",
    ]
    appended = [theirs[0] + b", 192.0.2.7", *theirs[1:]]
    last = theirs[3] + b", " + ELEMENT
    assert lines(*CLAIMS, trusted=True) == appended
    assert lines(*CLAIMS, trusted=True, forwarded="forwarded") == [*theirs[:3], last]
    assert lines(*CLAIMS, trusted=True, forwarded="both") == [*appended[:3], last]


def test_a_trusted_proxy_that_claims_nothing() -> None:
    """Without claims of a trusted proxy, or with empty ones, the balancer tells what it sees."""
    assert lines(trusted=True) == OURS
    assert lines(b"X-Forwarded-For:", b"X-Forwarded-Proto: ", trusted=True) == OURS


def test_ipv6_in_forwarded() -> None:
    """An IPv6 address in Forwarded stands in brackets and quotes (RFC 7239, 6)."""
    origin = Origin("2001:db8::1", b"[::1]:80", b"http", Manner("forwarded", (), b"p"), False)
    head = request_head(b"GET / HTTP/1.0")
    expected = b'\r\nForwarded: for="[2001:db8::1]";host="[::1]:80";proto=http'
    assert origin.lines(head) == expected


@pytest.mark.parametrize(
    ("peer", "trusted"),
    [
        ("10.1.2.3", True),
        ("11.1.2.3", False),
        ("192.0.2.1", True),
        ("192.0.2.2", False),
        ("2001:db8::5", True),
        ("2001:db9::5", False),
    ],
)
def test_who_is_trusted(peer: str, trusted: bool) -> None:
    """Addresses and networks of both families can be trusted."""
    manner = Manner("both", ("10.0.0.0/8", "192.0.2.1", "2001:db8::/32"), b"p")
    assert manner.trusts(peer) is trusted
    assert not Manner("both", (), b"p").trusts(peer)


def test_plain_addresses() -> None:
    """An IPv4-mapped address becomes IPv4, and a link-local address loses its interface."""
    assert plain_address("::ffff:192.0.2.7") == "192.0.2.7"
    assert plain_address("fe80::1%eth0") == "fe80::1"


@pytest.mark.parametrize(
    "given", [b"", b"a b", b"x" * 129, b'"', b"a\xff", b"one, two", b"a\r\nX-Request-ID: b"]
)
def test_ids_that_are_not_kept(given: bytes) -> None:
    """A request id that is not a single short token of printable ASCII is replaced."""
    origin = Origin(PEER, b"", b"http", Manner("x-forwarded", (), b"p"), True)
    head = request_head(b"GET / HTTP/1.1\r\nHost: a\r\nX-Request-ID: " + given)
    assert origin.request_id(head) == b"p-1"
    assert origin.request_id(head) == b"p-2"


# On the stage the peer is 127.0.0.1

REQUEST = b"\r\n".join((b"GET / HTTP/1.1", b"Host: a.org", *CLAIMS, b"", b""))


def told(s: Stage) -> tuple[Message, Message]:
    """The request that the worker got, and the answer that the client got."""
    answer = s.get(REQUEST)
    return s.worker.seen[-1], answer


def test_a_stranger_on_the_stage() -> None:
    """Claims of an untrusted client are replaced, and its request gets an id from the balancer."""
    with stage(always(), trusted_proxies=["10.0.0.0/8"]) as s:
        seen, answer = told(s)
        assert seen.get(b"x-forwarded-for") == b"127.0.0.1"
        assert seen.get(b"x-forwarded-proto") == b"http"
        assert seen.get(b"forwarded") is None
        assert seen.get(b"x-request-id") == answer.get(b"x-request-id") != b"theirs-1"
        assert told(s)[0].get(b"x-request-id") != seen.get(b"x-request-id")


PROXY_FIELDS = (
    b"X-Forwarded-Ssl: on",
    b"X-Forwarded-Port: 1",
    b"x-forwarded-prefix: /admin",
    b"X-Forwarded-Server: evil",
    b"X-Forwarded-Scheme: https",
    b"X-FORWARDED-PROTOCOL: ssl",
    b"X-Forwarded-A-Word-That-Nobody-Has-Ever-Thought-Of: 1",
    b"X-Url-Scheme: https",
    b"Front-End-Https: on",
    b"X-Real-IP: 1.1.1.1",
    b"True-Client-IP: 1.1.1.1",
    b"X-Client-IP: 1.1.1.1",
    b"X-Cluster-Client-IP: 1.1.1.1",
    b"CF-Connecting-IP: 1.1.1.1",
    b"SCRIPT_NAME: /admin",
    b"Path-Info: /admin",
)
ORDINARY = (b"X-Forwarder: a", b"X-Requested-With: b", b"x_custom: c", b"X-Content-Type-Options: d")
PROXY_REQUEST = b"\r\n".join(
    (b"GET / HTTP/1.1", b"Host: a.org", *PROXY_FIELDS, *ORDINARY, b"", b"")
)


def _lower_name(line: bytes) -> bytes:
    name, colon, value = line.partition(b":")
    return name.lower() + colon + value


@pytest.mark.parametrize("trusted", [True, False])
def test_fields_that_only_a_proxy_sends(trusted: bool) -> None:
    """Fields that only proxies send reach a worker unchanged if the proxy is trusted, else not."""
    with stage(always(), trusted_proxies=["127.0.0.0/8"] if trusted else []) as s:
        s.get(PROXY_REQUEST)
        seen = {name.lower() + b": " + value for name, value in s.worker.seen[0].fields}
        assert seen >= {_lower_name(line) for line in ORDINARY}
        passed = {line for line in PROXY_FIELDS if _lower_name(line) in seen}
        assert passed == (set(PROXY_FIELDS) if trusted else set())


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("name", [b"X_Forwarded_For", b"X_Forwarded-Port", b"True_Client-IP"])
def test_underscores_that_wsgi_servers_fold(name: bytes, trusted: bool) -> None:
    """A name with underscores, which WSGI servers take for the name with dashes, is refused."""
    with stage(always(), trusted_proxies=["127.0.0.0/8"] if trusted else []) as s:
        assert s.get(GET[:-2] + name + b": 1\r\n\r\n").status == 400
        assert not s.worker.seen


def test_a_trusted_proxy_on_the_stage() -> None:
    """Claims and the id of a trusted proxy are kept, and the answer carries that id."""
    with stage(always(), trusted_proxies=["127.0.0.0/8"], forwarded="both") as s:
        seen, answer = told(s)
        assert seen.get(b"x-forwarded-for") == b"1.1.1.1, 2.2.2.2, 3.3.3.3, 127.0.0.1"
        assert seen.get(b"x-forwarded-proto") == b"https"
        assert seen.get(b"forwarded") == (
            b"for=1.1.1.1;proto=https, for=2.2.2.2, " + b'for=127.0.0.1;host="a.org";proto=http'
        )
        assert seen.get(b"x-request-id") == answer.get(b"x-request-id") == b"theirs-1"


def test_the_worker_does_not_change_the_id() -> None:
    """The client gets only the id of its request, and not an id that the worker sends."""
    with stage(once(b"HTTP/1.1 200 OK\r\nX-Request-ID: w\r\nContent-Length: 0\r\n\r\n")) as s:
        answer = s.get()
        assert answer.get(b"x-request-id") == s.worker.seen[0].get(b"x-request-id")


def test_our_own_answers_have_the_id() -> None:
    """A 503 from the balancer carries the id of the request."""
    with stage() as s:
        answer = s.get(GET)
        assert answer.status == 503
        assert answer.get(b"x-request-id")


def test_a_trace_context_passes_untouched() -> None:
    """`traceparent` and `tracestate` pass unchanged between client and worker."""
    parent = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    answer = b"HTTP/1.1 200 OK\r\ntraceparent: x\r\nContent-Length: 0\r\n\r\n"
    with stage(once(answer)) as s:
        request = GET[:-2] + b"traceparent: " + parent + b"\r\ntracestate: a=1\r\n\r\n"
        assert s.get(request).get(b"traceparent") == b"x"
        assert s.worker.seen[0].get(b"traceparent") == parent
        assert s.worker.seen[0].get(b"tracestate") == b"a=1"


def test_claims_named_by_connection_are_ours_all_the_same() -> None:
    """A client cannot remove the balancer's fields by naming them in Connection."""
    with stage(always()) as s:
        named = b"Connection: x-forwarded-for, x-request-id, forwarded, via\r\n\r\n"
        s.get(GET[:-2] + named)
        assert s.worker.seen[0].get(b"x-forwarded-for") == b"127.0.0.1"
        assert s.worker.seen[0].get(b"x-request-id")
        assert s.worker.seen[0].get(b"via") == b"1.1 steelyard"
