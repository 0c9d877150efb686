"""Tests of certificate files that change while the balancer runs."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from steelyard.balancer.control.renewal import Renewal
from tests.balancer.authority import issue, trusting
from tests.balancer.secure import call
from tests.balancer.stage import GET, Stage, Wire, always, stage
from tests.balancer.test_process import Balancer, balancer


@contextmanager
def scene(folder: Path) -> Iterator[tuple[Stage, Renewal]]:
    certificate, key = issue(folder, "a.org")
    with stage(always(), tls_cert=[certificate], tls_key=[key]) as s:
        assert s.plane.front.identity is not None
        yield s, Renewal(s.plane.front, s.plane.front.identity, s.plane.settings.pairs)


def names(client: Wire) -> set[str]:
    assert isinstance(client.sock, ssl.SSLSocket)
    told = client.sock.getpeercert()
    assert told is not None
    return {str(value) for _, value in told["subjectAltName"]}


def ask(client: Wire) -> int:
    client.send(GET)
    return client.answer().status


def test_a_new_certificate(tmp_path: Path) -> None:
    """New clients get a new certificate once its files no longer change; old connections stay."""
    with scene(tmp_path) as (s, renewal), call(s) as old:
        assert ask(old) == 200
        issue(tmp_path, "a.org", "new.org")
        renewal.look()  # the files may still be changing
        with call(s) as client:
            assert names(client) == {"a.org"}
        renewal.look()
        with call(s) as client:
            assert names(client) == {"a.org", "new.org"}
            assert ask(client) == 200
        assert ask(old) == 200


def test_nothing_new(tmp_path: Path) -> None:
    """Files that do not change are not loaded again."""
    with scene(tmp_path) as (s, renewal):
        before = s.plane.front.identity
        renewal.look()
        renewal.look()
        assert s.plane.front.identity is before


def test_a_link_that_leads_elsewhere(tmp_path: Path) -> None:
    """A symbolic link that changes is noticed: certbot and Kubernetes never change the files."""
    one, two = tmp_path / "1", tmp_path / "2"
    issue(one, "a.org", stem="it")
    issue(two, "a.org", "new.org", stem="it")
    live = tmp_path / "live"
    live.symlink_to(one)
    with stage(always(), tls_cert=[live / "it.pem"], tls_key=[live / "it.key"]) as s:
        assert s.plane.front.identity is not None
        renewal = Renewal(s.plane.front, s.plane.front.identity, s.plane.settings.pairs)
        draft = tmp_path / "draft"
        draft.symlink_to(two)
        os.replace(draft, live)
        renewal.look()
        renewal.look()
        with call(s) as client:
            assert names(client) == {"a.org", "new.org"}


@pytest.mark.parametrize("harm", ["mismatch", "gone", "junk"])
def test_a_bad_one(tmp_path: Path, harm: str, caplog: pytest.LogCaptureFixture) -> None:
    """A bad certificate is logged once and not used, and a good one is used later."""
    with scene(tmp_path) as (s, renewal):
        certificate, key = tmp_path / "a.org.pem", tmp_path / "a.org.key"
        before = key.read_bytes()
        if harm == "mismatch":
            issue(tmp_path, "a.org")
            key.write_bytes(before)
        elif harm == "gone":
            certificate.unlink()
        else:
            certificate.write_text("junk")
        caplog.set_level(logging.INFO)
        for _ in range(4):
            renewal.look()
        (said,) = [record for record in caplog.records if "not used" in record.message]
        assert said.levelname == "ERROR"
        assert "→" in said.message  # the hint
        with call(s) as client:
            assert ask(client) == 200
        issue(tmp_path, "a.org", "mended.org")
        renewal.look()
        renewal.look()
        with call(s) as client:
            assert "mended.org" in names(client)


def test_one_that_clients_will_not_like(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An expired certificate is used, since the operator put it there, and the log warns of it."""
    with scene(tmp_path) as (s, renewal):
        assert s.plane.front.identity is not None
        old = s.plane.front.identity.shown[0].certificate
        issue(tmp_path, "a.org", begins=old.begins.replace(year=2020), ends=old.begins)
        renewal.look()
        renewal.look()
        assert s.plane.front.identity.shown[0].certificate.ends == old.begins.replace(microsecond=0)
        assert any("expired on" in record.message for record in caplog.records)


async def test_under_load(tmp_path: Path) -> None:
    """While certificates change under load, no request fails, on new and on old connections."""
    certificate, key = issue(tmp_path, "a.org")
    worker = await asyncio.start_server(_worker, "127.0.0.1", 0)
    port = worker.sockets[0].getsockname()[1]
    files = {"tls_cert": [str(certificate)], "tls_key": [str(key)]}
    async with worker:
        with balancer("fixed", f"127.0.0.1:{port}", **files) as b:
            clients = [Client(b, fresh=fresh) for fresh in (True, True, False)]
            async with asyncio.TaskGroup() as load:
                for client in clients:
                    load.create_task(client.ask_until_stopped())
                seen: set[str] = set()
                for number in range(3):
                    issue(tmp_path, "a.org", f"n{number}.org")
                    while f"n{number}.org" not in seen:
                        seen = await _names(b)
                    for client in clients:
                        await client.next_answer()
                for client in clients:
                    client.stopped = True


async def _worker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while (await reader.readline()).strip():
        while (await reader.readline()).strip():
            pass
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    writer.close()


async def _open(b: Balancer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(
        "127.0.0.1", b.port, ssl=trusting(), server_hostname="a.org"
    )


async def _names(b: Balancer) -> set[str]:
    _, writer = await _open(b)
    told = writer.get_extra_info("peercert")
    writer.close()
    return {value for _, value in told["subjectAltName"]}


class Client:
    """A client that opens a connection for each request, or keeps one for all."""

    def __init__(self, b: Balancer, *, fresh: bool) -> None:
        self.stopped = False
        self._balancer = b
        self._fresh = fresh
        self._answered = asyncio.Event()

    async def next_answer(self) -> None:
        """Wait for an answer that comes after this call."""
        self._answered.clear()
        await self._answered.wait()

    async def ask_until_stopped(self) -> None:
        reader, writer = await _open(self._balancer)
        while not self.stopped:
            writer.write(GET)
            answer = await reader.readuntil(b"\r\n\r\nok")
            assert answer.startswith(b"HTTP/1.1 200")
            self._answered.set()
            if self._fresh:
                writer.close()
                reader, writer = await _open(self._balancer)
        writer.close()
