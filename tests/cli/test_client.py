"""The client, against a real API."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from steelyard.cli.client import AgentClient, LostAgentError, NoAgentError, RefusedError
from steelyard.config.values import Address
from steelyard.peer_owner import StrangerError
from tests.agent.conftest import TOKEN, Served, served
from tests.ports import free_port
from tests.stranger import stranger
from tests.waiting import wait_until

__all__ = ["served"]  # the fixture


@pytest.fixture
async def client(served: Served, tmp_path: Path) -> AsyncIterator[AgentClient]:
    served.boot()
    (tmp_path / "token").write_text(TOKEN)
    return AgentClient(Address("127.0.0.1", served.port), tmp_path / "token")


async def test_it_reads_and_steers(client: AgentClient):
    """The client reads the status, sets limits and drains a worker."""
    told = await asyncio.to_thread(client.status)
    assert len(told.workers) == 2
    told = await asyncio.to_thread(client.set_limits, 3, 5)
    assert (told.min, told.max) == (3, 5)
    told = await asyncio.to_thread(client.drain, told.workers[0].name)
    assert told.decisions[-1].action in {"start", "replace", "stop", "drain"}


async def test_a_refusal_is_told_in_the_agents_words(client: AgentClient):
    """An error of the agent is shown in its own words, not as an HTTP status."""
    with pytest.raises(RefusedError, match="the agent refused: no worker named nobody"):
        await asyncio.to_thread(client.drain, "nobody")


async def test_a_wrong_token_points_at_the_state_folder(client: AgentClient, tmp_path: Path):
    """A wrong token usually comes from another agent's folder, so the hint names --state."""
    (tmp_path / "token").write_text("wrong")
    with pytest.raises(RefusedError, match="--state"):
        await asyncio.to_thread(client.status)


def test_no_agent_says_how_to_start_one(tmp_path: Path):
    """If nobody listens, the hint says how to start an agent."""
    (tmp_path / "token").write_text(TOKEN)
    with pytest.raises(NoAgentError, match="steelyard up"):
        AgentClient(Address("127.0.0.1", free_port()), tmp_path / "token").status()


@pytest.mark.parametrize(
    "answer",
    [
        b"hello\n\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 13\r\n\r\n<html></html>",
    ],
)
async def test_another_program_in_the_agents_place_is_told(tmp_path: Path, answer: bytes):
    """A program in the agent's place may speak another protocol, or HTTP with other content."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    (tmp_path / "token").write_text(TOKEN)
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        address = Address("127.0.0.1", server.sockets[0].getsockname()[1])
        with pytest.raises(RefusedError, match="is not an agent"):
            await asyncio.to_thread(AgentClient(address, tmp_path / "token").status)


@pytest.mark.parametrize("name", ["a b", "ä/ö", "..", "x?lines=1"])
async def test_any_text_can_be_asked_for_as_a_worker(client: AgentClient, name: str):
    """Any text that a user types is sent as the name of a worker."""
    with pytest.raises(RefusedError):
        await asyncio.to_thread(client.drain, name)


@pytest.mark.parametrize("ends", [True, False])
def test_an_answer_that_breaks_off_is_told_from_one_that_ends(tmp_path, ends):
    """A killed agent sends no last chunk; the lines before that are printed, then an error."""
    text = b'{"time":null,"worker":"w","text":"one"}\n'
    last = b"0\r\n\r\n" if ends else b""
    (tmp_path / "token").write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                connection.sendall(head + b"%x\r\n%b\r\n" % (len(text), text) + last)

        thread = threading.Thread(target=answer)
        thread.start()
        client = AgentClient(Address("127.0.0.1", server.getsockname()[1]), tmp_path / "token")
        lines = client.lines(None, 1, follow=True, probes=False)
        assert next(lines).text == "one"
        with nullcontext() if ends else pytest.raises(LostAgentError):
            assert [*lines] == []
        thread.join()


@pytest.mark.needs("root")
def test_another_user_in_the_agents_place_gets_no_token(tmp_path: Path) -> None:
    """While the agent is away, any user of the machine may listen on its port."""
    (tmp_path / "token").write_text(TOKEN)
    with stranger(tmp_path / "log") as other:
        client = AgentClient(Address("127.0.0.1", other.port), tmp_path / "token")
        with pytest.raises(StrangerError, match="of another user"):
            client.status()
        wait_until(lambda: len(other.lines) == 2, 60)
        assert other.lines == ["connected", "got b''"]
