"""Real clients: each stores bytes under a URL, with a length or chunked, and gets them back.

Over TLS the clients trust the root certificate in the given file, and check names.
"""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import httpx
import requests

from tests.balancer.peers.app import PIECE


def pieces(data: bytes) -> Iterator[bytes]:
    """The pieces of a body whose length is not announced."""
    for at in range(0, len(data), PIECE):
        yield data[at : at + PIECE]


async def _apieces(data: bytes) -> AsyncIterator[bytes]:
    for piece in pieces(data):
        yield piece


def _context(trust: Path | None) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=trust)


def use_httpx(url: str, data: bytes, chunked: bool, trust: Path | None = None) -> bytes:
    with httpx.Client(trust_env=False, timeout=30, verify=_context(trust)) as client:
        client.put(url, content=pieces(data) if chunked else data).raise_for_status()
        return client.get(url).raise_for_status().content


def use_requests(url: str, data: bytes, chunked: bool, trust: Path | None = None) -> bytes:
    with requests.Session() as session:
        session.trust_env = False
        session.verify = str(trust) if trust else True
        session.put(url, data=pieces(data) if chunked else data, timeout=30).raise_for_status()
        answer = session.get(url, timeout=30)
        answer.raise_for_status()
        return answer.content


def use_aiohttp(url: str, data: bytes, chunked: bool, trust: Path | None = None) -> bytes:
    return asyncio.run(_use_aiohttp(url, data, chunked, trust))


async def _use_aiohttp(url: str, data: bytes, chunked: bool, trust: Path | None = None) -> bytes:
    tls = aiohttp.TCPConnector(ssl=_context(trust))
    async with aiohttp.ClientSession(connector=tls, raise_for_status=True) as session:
        async with session.put(url, data=_apieces(data) if chunked else data):
            pass
        async with session.get(url) as answer:
            return await answer.read()


def use_curl(url: str, data: bytes, chunked: bool, trust: Path | None = None) -> bytes:
    """curl announces a large body of known length with `Expect: 100-continue`."""
    # With `-T -` the length is unknown; `--data-binary` reads the whole input first.
    body = ["-T", "-"] if chunked else ["-X", "PUT", "--data-binary", "@-"]
    trusted = ["--cacert", str(trust)] if trust else []
    curl(url, *trusted, *body, data=data)
    return curl(url, *trusted)


def curl(url: str, *options: str, data: bytes = b"") -> bytes:
    """The output of curl; a failure of curl raises an error."""
    command = ["curl", "-q", "-sS", "--fail", "--noproxy", "*", "--max-time", "30", *options, url]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout
