"""Sticky sessions: the cookie, its signature, and where requests go with it."""

from __future__ import annotations

import base64
import hashlib
import socket
import threading
from http.cookies import SimpleCookie

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.http.alphabets import TOKEN
from steelyard.balancer.http.heads import RequestHead
from steelyard.balancer.pool.counters import Bell
from steelyard.balancer.pool.sticky import Sticky, digest, read_secret, without_cookie
from steelyard.balancer.pool.worker import Worker
from steelyard.core.lifecycle import State
from steelyard.errors import UsageError
from tests.balancer.secure import call, tls_stage
from tests.balancer.stage import PATIENCE, Conn, Message, Play, Stage, Wire, always, stage, until

NAME = b"steelyard"
START = b"GET / HTTP/1.1"
SECRET = b"0123456789abcdef"

tokens = st.text(st.sampled_from(TOKEN.decode()), min_size=1, max_size=12).map(str.encode)
values = st.binary(max_size=20).map(lambda raw: raw.translate(None, b";\r\n"))
others = st.tuples(tokens.filter(lambda name: name != NAME), values).map(b"=".join)
bare = st.sampled_from([b"", b" ", b"flag", b"steelyard", b"=x", b"steelyardx=1", b"x=steelyard=1"])
space = st.sampled_from([b"", b" ", b"\t", b"  "])


def joined(*lines: bytes) -> bytes:
    return b"".join(b"\r\n" + line for line in lines)


def worker(name: str) -> Worker:
    return Worker(name, socket.AF_INET, ("127.0.0.1", 1), Bell())


# Parsing of cookies


@given(st.lists(st.one_of(others, bare), max_size=6), st.sampled_from([b"Cookie", b"cookie"]))
def test_what_is_not_ours_is_left_alone(pairs, field):
    """Cookies of other names, and malformed ones, stay byte for byte."""
    fields = joined(b"Host: a", field + b": " + b";".join(pairs), b"Accept: steelyard=1")
    assert without_cookie(fields, NAME) == (fields, b"")


@given(st.lists(st.one_of(others, bare), max_size=5), st.integers(0, 5), values, space, space)
def test_ours_is_taken_out_and_the_rest_stays(pairs, place, value, before, after):
    """The session cookie is taken out wherever it stands, and a line with nothing else goes."""
    at = min(place, len(pairs))
    ours = before + NAME + b"=" + value + after
    line = b"Cookie:" + b";".join([*pairs[:at], ours, *pairs[at:]])
    fields, found = without_cookie(joined(b"A: b", line), NAME)
    assert found == value.strip(b" \t")
    left = [pair for pair in pairs if pair.strip(b" \t")]
    assert fields == joined(b"A: b", *([b"Cookie:" + b";".join(pairs)] if left else []))


def test_all_of_our_name_are_taken_out():
    """All cookies of the session's name are taken out of all lines, and the first one counts."""
    lines = (b"Cookie: a=1; steelyard=one; b=2", b"COOKIE: steelyard=two", b"Cookie: c=3")
    kept, value = without_cookie(joined(*lines), NAME)
    assert value == b"one"
    assert kept == joined(b"Cookie: a=1; b=2", b"Cookie: c=3")


# Signature


@given(st.binary(min_size=16, max_size=40), st.lists(st.text(min_size=1), max_size=6, unique=True))
def test_a_cookie_leads_to_its_worker_and_no_other(secret, names):
    """A cookie leads to its worker in every process that has the secret, and to no other worker."""
    here, there = Sticky(NAME, secret), Sticky(NAME, secret)
    workers = [worker(name) for name in names]
    here.serve(workers)
    there.serve(reversed(workers))
    for one in workers:
        cookie = here.line(one, secure=False).partition(b"Set-Cookie: ")[2].partition(b";")[0]
        head = RequestHead(b"GET", START + joined(b"Cookie: " + cookie), True)
        assert there.read(head, secure=False).home is one
        assert head.text == START


@given(
    st.binary(max_size=40).map(lambda raw: raw.translate(None, b";\r\n")), st.binary(min_size=16)
)
def test_what_nobody_signed_leads_nowhere(value, secret):
    """A cookie that is forged, garbled or signed with another secret leads to no worker."""
    sticky = Sticky(NAME, SECRET)
    sticky.serve([worker("w")])
    for cookie in (value, digest(secret + b"x", "w"), digest(SECRET, "w")[:-1], b"w"):
        head = RequestHead(b"GET", START + joined(b"Cookie: steelyard=" + cookie), True)
        assert sticky.read(head, secure=False).home is None


def test_a_name_cannot_be_read_from_a_cookie():
    """The cookie is the first 128 bits of an HMAC (RFC 2104), which the test computes itself."""
    inner, outer = (bytes(b ^ pad for b in SECRET.ljust(64, b"\0")) for pad in (0x36, 0x5C))
    whole = hashlib.sha256(outer + hashlib.sha256(inner + b"w").digest()).digest()
    assert base64.urlsafe_b64decode(digest(SECRET, "w") + b"==") == whole[:16]


@pytest.mark.parametrize(("text", "flaw"), [(b"short\n", "shorter than 16"), (None, "cannot be")])
def test_a_bad_secret_is_told(tmp_path, text, flaw):
    """A secret that is too short, or cannot be read, is an error with a clear message."""
    file = tmp_path / "secret"
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(UsageError, match=flaw):
        read_secret(file)


# Requests on real sockets


def ask(s: Stage | Wire, cookie: bytes = b"", fields: bytes = b"") -> Message:
    line = b"Cookie: %b\r\n" % cookie if cookie else b""
    request = b"GET / HTTP/1.1\r\nHost: a\r\n%b%b\r\n" % (line, fields)
    if isinstance(s, Stage):
        return s.get(request)
    s.send(request)
    return s.answer()


def named(name: bytes) -> Play:
    return always(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(name), name))


def cookie_of(answer: Message) -> bytes:
    """The session cookie of an answer, as a browser would send it back."""
    ((name, morsel),) = SimpleCookie((answer.get(b"set-cookie") or b"").decode()).items()
    return f"{name}={morsel.value}".encode()


def test_a_session_stays_with_its_worker():
    """The cookie is set once, has all attributes, and its answer is private to the client."""
    with stage(*(named(b"%d" % n) for n in range(4)), sticky="cookie") as s:
        first = ask(s)
        given_cookie = first.get(b"set-cookie") or b""
        assert given_cookie.endswith(b"; Path=/; HttpOnly; SameSite=Lax")
        assert first.get(b"cache-control") == b"private"
        for _ in range(12):
            answer = ask(s, b"a=1; " + cookie_of(first) + b"; b=2")
            assert answer.body == first.body
            assert (answer.get(b"set-cookie"), answer.get(b"cache-control")) == (None, None)
        home = s.workers[int(first.body)]
        assert home.seen[-1].get(b"cookie") == b"a=1; b=2"
        assert ask(s, cookie_of(first)).body == first.body
        assert home.seen[-1].get(b"cookie") is None


def test_off_means_off():
    """With `sticky` off no cookie is set, and a cookie of that name reaches the worker."""
    with stage(named(b"0")) as s:
        answer = ask(s, b"steelyard=x")
        assert answer.get(b"set-cookie") is None
        assert s.worker.seen[0].get(b"cookie") == b"steelyard=x"


def test_a_forged_cookie_is_ignored():
    """A forged cookie is replaced by a valid one, and does not reach the worker."""
    with stage(named(b"0"), sticky="cookie", sticky_cookie="SRV") as s:
        answer = ask(s, b"SRV=forged")
        assert (answer.status, cookie_of(answer)[:4]) == (200, b"SRV=")
        assert s.worker.seen[0].get(b"cookie") is None


def test_workers_own_cookies_and_rules_pass():
    """Set-Cookie and Cache-Control of the worker are kept beside those of the balancer."""
    own = (
        b"HTTP/1.1 200 OK\r\nSet-Cookie: id=7\r\nCache-Control: max-age=9\r\n"
        b"Content-Length: 0\r\n\r\n"
    )
    with stage(always(own), sticky="cookie") as s:
        answer = ask(s)
        assert [value.partition(b"=")[0] for value in answer.all(b"set-cookie")] == [
            b"id",
            b"steelyard",
        ]
        assert answer.all(b"cache-control") == [b"max-age=9", b"private"]


def test_secure_behind_a_proxy_that_speaks_tls():
    """The cookie is Secure when a trusted proxy says that the client uses https."""
    with stage(named(b"0"), sticky="cookie", trusted_proxies=["127.0.0.1"]) as s:
        answer = ask(s, fields=b"X-Forwarded-Proto: https\r\n")
        assert (answer.get(b"set-cookie") or b"").endswith(b"; Secure")
        assert not (ask(s).get(b"set-cookie") or b"").endswith(b"; Secure")


def test_secure_over_tls(tmp_path):
    """The cookie is Secure over TLS, so that a browser sends it back only encrypted."""
    with tls_stage(tmp_path, named(b"0"), sticky="cookie") as s, call(s) as client:
        assert (ask(client).get(b"set-cookie") or b"").endswith(b"; Secure")


@pytest.mark.parametrize("how", ["gone", "sundown", "dead"])
def test_a_worker_that_leaves_means_another(how):
    """When its worker has left, a session moves to another worker and stays there."""
    with stage(named(b"0"), named(b"1"), sticky="cookie") as s:
        first = ask(s)
        home, other = s.workers[int(first.body)], s.workers[1 - int(first.body)]
        if how == "dead":
            home.close()
        else:
            kept = [home.entry(State.SUNDOWN, 0)] if how == "sundown" else []
            s.queue(other.entry(), *kept)
        second = ask(s, cookie_of(first))
        assert (second.status, second.body) == (200, other.name[1:].encode())
        third = ask(s, cookie_of(second))
        assert (third.body, third.get(b"set-cookie")) == (second.body, None)


def test_an_ejected_worker_loses_its_sessions():
    """When its worker is ejected, a session moves to another worker at once."""

    def broken(conn: Conn) -> None:
        conn.request()

    with stage(named(b"0"), named(b"1"), sticky="cookie", eject_after=1, eject_first=60) as s:
        first = ask(s)
        home, other = s.workers[int(first.body)], s.workers[1 - int(first.body)]
        home.play = broken
        for idle in [worker for worker in s.directory if worker.name == home.name]:
            until(lambda idle=idle: not idle.tally.inflight)
        s.queue(other.entry())  # this closes the idle connections
        s.queue(home.entry(), other.entry())
        assert ask(s, cookie_of(first)).body == other.name[1:].encode()
        again = ask(s, cookie_of(first))
        assert (again.status, again.body) == (200, other.name[1:].encode())
        assert again.get(b"set-cookie") is not None
        assert len(home.seen) == 2


def test_a_full_worker_keeps_its_sessions():
    """While its worker is full, a session is served by another worker and keeps its cookie."""
    go = threading.Event()

    def slow(number: bytes) -> Play:
        def play(conn: Conn) -> None:
            while True:
                if conn.request().start.startswith(b"POST"):
                    assert go.wait(PATIENCE)
                conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + number)

        return play

    with stage(slow(b"0"), slow(b"1"), sticky="cookie", worker_concurrency=1) as s:
        first = ask(s)
        mine = cookie_of(first)
        with s.call() as busy:
            busy.send(
                b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nCookie: %b\r\n\r\n" % mine
            )
            until(lambda: s.inflight() == 1)
            stand_in = ask(s, mine)
            assert stand_in.body != first.body
            assert stand_in.get(b"set-cookie") is None
            go.set()
            assert busy.answer().body == first.body
        assert ask(s, mine).body == first.body


def test_a_stale_connection_does_not_cost_a_session():
    """When the worker has closed an idle connection, its session is retried on a new connection."""

    def closes(number: bytes) -> Play:
        def play(conn: Conn) -> None:
            conn.request()
            conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + number)
            conn.request()  # and close without an answer

        return play

    with stage(closes(b"0"), closes(b"1"), sticky="cookie") as s:
        first = ask(s)
        for _ in range(3):
            answer = ask(s, cookie_of(first))
            assert (answer.body, answer.get(b"set-cookie")) == (first.body, None)


def test_a_tunnel_has_a_session_too():
    """The 101 that begins a tunnel sets the session cookie."""
    switch = b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(switch)
        assert conn.ended()

    with stage(play, play, sticky="cookie") as s, s.call() as client:
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
        answer = client.head()
        assert answer.status == 101
        assert cookie_of(answer)
