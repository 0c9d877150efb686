"""Every endpoint of the demo, on a real process."""

from __future__ import annotations

import hashlib
import re
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest

from steelyard.demo.endpoints import ENDPOINTS
from tests.demo.conftest import Running

PATTERN = bytes(range(256)) * 256


def test_the_page_names_its_worker_and_needs_nothing_else(demo: Running) -> None:
    """The page is one file: no address of another server, no placeholder left."""
    answer = demo.client.get("/")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "demo-1" in answer.text
    assert f"process {demo.process.pid}, port {demo.port}" in answer.text
    assert re.findall(r"https?://|\{\{|<script src|<link rel=.stylesheet", answer.text) == []


def test_the_page_lists_every_endpoint(demo: Running) -> None:
    """Each path but the page's own has a button."""
    text = demo.client.get("/").text
    listed = set(re.findall(r'\["(\w+)', text))
    assert listed == {path.lstrip("/") for path in ENDPOINTS} - {""}


def test_whoami(demo: Running) -> None:
    """The answer has the worker's name, process and port."""
    expected = {"worker": "demo-1", "pid": demo.process.pid, "port": demo.port}
    assert demo.client.get("/whoami").json() == expected


@pytest.mark.parametrize(
    "path", ["/", "/whoami", "/nowhere", "/cpu?ms=x", "/bytes?size=1", "/fail"]
)
def test_every_answer_names_its_worker(demo: Running, path: str) -> None:
    """Every answer has the worker's name, errors included."""
    assert demo.client.get(path).headers["x-worker"] == "demo-1"


def test_cpu_burns_what_is_asked(demo: Running) -> None:
    """The process's CPU time grows by the time that was asked for."""
    before = sum(psutil.Process(demo.process.pid).cpu_times()[:2])
    answer = demo.client.get("/cpu", params={"ms": 300}).json()
    burnt = sum(psutil.Process(demo.process.pid).cpu_times()[:2]) - before
    assert answer["burnt_ms"] == 300
    assert 0.25 <= burnt <= 0.6


def test_health_answers_while_the_cpu_burns(demo: Running) -> None:
    """A loaded worker is not a hung one, and two burns take their turns."""
    with ThreadPoolExecutor() as pool:
        began = time.monotonic()
        burns = [pool.submit(demo.client.get, "/cpu?ms=400") for _ in range(2)]
        assert demo.client.get("/health").text == "ok\n"
        assert not all(burn.done() for burn in burns)
        assert all(burn.result().status_code == 200 for burn in burns)
    assert time.monotonic() - began >= 0.8


def test_memory_is_held_and_let_go(demo: Running) -> None:
    """The resident memory grows at once and falls again."""
    process = psutil.Process(demo.process.pid)
    before = process.memory_info().rss
    answer = demo.client.get("/memory", params={"mb": 100, "seconds": 1}).json()
    assert answer["held_mb"] == 100
    assert process.memory_info().rss - before > 90 * 2**20
    deadline = time.monotonic() + 10
    while process.memory_info().rss - before > 30 * 2**20:
        assert time.monotonic() < deadline, "the memory was not let go"
        time.sleep(0.05)


def test_memory_has_a_limit_for_all_requests_together(demo: Running) -> None:
    """Many small requests cannot take what one large one may not."""
    assert demo.client.get("/memory?mb=300&seconds=0").status_code == 200
    held = demo.client.get("/memory?mb=300&seconds=1")
    while held.status_code == 400:  # the first memory is released a moment later
        held = demo.client.get("/memory?mb=300&seconds=1")
    refused = demo.client.get("/memory?mb=300")
    assert refused.status_code == 400
    assert "300 of at most 512 are held already" in refused.text


def test_sleep(demo: Running) -> None:
    """The answer comes after the time asked for."""
    began = time.monotonic()
    assert demo.client.get("/sleep?ms=200").json()["slept_ms"] == 200
    assert time.monotonic() - began >= 0.2


def test_echo_tells_what_arrived(demo: Running) -> None:
    """The answer has the method, the path, the query and every header, repeated ones included."""
    answer = demo.client.post(
        "/echo?a=1&b=%20", headers=[("X-One", "1"), ("X-One", "2")], content=b"ignored"
    ).json()
    assert (answer["method"], answer["path"], answer["query"]) == ("POST", "/echo", "a=1&b=%20")
    assert [value for name, value in answer["headers"] if name == "x-one"] == ["1", "2"]


def test_echo_streams_the_body_back_as_it_comes(demo: Running) -> None:
    """The second piece is sent only after the first came back."""
    back = threading.Event()
    pieces: list[bytes] = []

    def body() -> Iterator[bytes]:
        yield b"first"
        assert back.wait(60)
        yield b"second"

    # A usual client would send everything before it reads, and wait for ever.
    with socket.create_connection(("127.0.0.1", demo.port), timeout=60) as sock:
        sock.sendall(b"POST /echo?body=1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in body():
            sock.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            received = b""
            while piece not in received:
                received += sock.recv(65536)
            pieces.append(piece)
            back.set()
        sock.sendall(b"0\r\n\r\n")
    assert pieces == [b"first", b"second"]


def test_echo_keeps_length_and_type_of_the_body(demo: Running) -> None:
    """A body with a length comes back with that length."""
    answer = demo.client.post("/echo?body=1", content=PATTERN, headers={"content-type": "x/y"})
    assert answer.content == PATTERN
    assert answer.headers["content-length"] == str(len(PATTERN))
    assert answer.headers["content-type"] == "x/y"


def test_upload_without_a_body(demo: Running) -> None:
    """A request without a body has length 0."""
    assert demo.client.get("/upload").json()["length"] == 0


def test_upload_returns_length_and_digest(demo: Running) -> None:
    """A body of many pieces is digested as it comes."""
    answer = demo.client.post("/upload", content=(PATTERN for _ in range(100))).json()
    digest = hashlib.sha256(PATTERN * 100).hexdigest()
    assert answer == {"length": len(PATTERN) * 100, "sha256": digest}


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 3_000_000])
@pytest.mark.parametrize("chunked", [0, 1])
def test_bytes_streams_exactly_that_many(demo: Running, size: int, chunked: int) -> None:
    """The stream has a length, or is chunked."""
    answer = demo.client.get("/bytes", params={"size": size, "chunked": chunked})
    assert answer.content == (PATTERN * (size // len(PATTERN) + 1))[:size]
    assert answer.headers.get("content-length") == (None if chunked else str(size))


def test_a_large_stream_does_not_fill_the_memory(demo: Running) -> None:
    """A client that does not read slows the worker down."""
    process = psutil.Process(demo.process.pid)
    before = process.memory_info().rss
    with demo.client.stream("GET", "/bytes?size=1073741824") as answer:
        received = 0
        for piece in answer.iter_raw():
            received += len(piece)
            if received > 2**22:
                break
        assert demo.client.get("/health").status_code == 200
        assert process.memory_info().rss - before < 20 * 2**20


def test_fail_answers_with_the_status_asked_for(demo: Running) -> None:
    """The status is 500, or the one that was asked for."""
    assert demo.client.get("/fail").status_code == 500
    assert demo.client.get("/fail?status=418").status_code == 418


def test_an_unknown_path_lists_the_known_ones(demo: Running) -> None:
    """The text of a 404 lists the known paths."""
    answer = demo.client.get("/nowhere")
    assert answer.status_code == 404
    assert "/whoami" in answer.text


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/cpu?ms=x", "ms: expected a whole number 0…60000, got 'x'"),
        ("/cpu?ms=60001", "ms: expected a whole number 0…60000, got '60001'"),
        ("/cpu?ms=-1", "ms: expected"),
        ("/cpu?ms=", "ms: expected"),
        ("/cpu?ms=%D9%A3", "ms: expected"),
        ("/memory?mb=100000", "mb: expected a whole number 1…512"),
        ("/memory?seconds=1e9", "seconds: expected a whole number 0…600"),
        ("/sleep?ms=99999999999999999999999", "ms: expected a whole number 0…60000"),
        ("/bytes?size=99999999999", "size: expected a whole number 0…10737418240"),
        ("/fail?status=200", "status: expected a whole number 400…599"),
        ("/echo?body=yes", "body: expected a whole number 0…1, got 'yes'"),
    ],
)
def test_a_wrong_query_is_told_in_words(demo: Running, path: str, problem: str) -> None:
    """The text of a 400 names the parameter, its limits and the value."""
    answer = demo.client.get(path)
    assert answer.status_code == 400
    assert problem in answer.text


@pytest.mark.parametrize("path", ["/", "/whoami", "/echo", "/bytes?size=5000000", "/nowhere"])
def test_head_has_the_head_of_get(demo: Running, path: str) -> None:
    """Same status, same type, same length, no body, and the connection lives on."""
    head = demo.client.head(path)
    with demo.client.stream("GET", path) as get:
        assert (head.status_code, head.content) == (get.status_code, b"")
        assert head.headers["content-type"] == get.headers["content-type"]
    if path != "/echo":  # its answer contains the method
        assert head.headers["content-length"] == get.headers["content-length"]
    assert demo.client.get("/health").text == "ok\n"


def test_a_small_answer_comes_in_one_piece(demo: Running) -> None:
    """Head and body are one write, so the first packet has both, every time."""
    with socket.create_connection(("127.0.0.1", demo.port), timeout=60) as sock:
        for _ in range(50):
            sock.sendall(b"GET /whoami HTTP/1.1\r\nHost: a\r\n\r\n")
            assert sock.recv(65536).endswith(b"}\n")


def test_a_body_nobody_asked_for_does_not_end_the_connection(demo: Running) -> None:
    """The same connection serves a request after one whose body was ignored."""
    with httpx.Client(
        base_url=demo.client.base_url,
        limits=httpx.Limits(max_connections=1),
        trust_env=False,
    ) as client:
        answers = [client.post("/whoami", content=PATTERN * 10), client.get("/whoami")]
        streams = [answer.extensions["network_stream"] for answer in answers]
        assert len({stream.get_extra_info("client_addr") for stream in streams}) == 1
