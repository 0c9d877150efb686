"""A proxy as one would write it in Python: aiohttp's server and client, on uvloop."""

from __future__ import annotations

from pathlib import Path

from steelyard.bench import venv
from steelyard.bench.launch import Command
from steelyard.bench.proxies.base import Proxy, Site
from steelyard.bench.tools import Say

_SERVER = Path(__file__).with_name("aiohttp_server.py")


class Aiohttp(Proxy):
    """The aiohttp proxy. It has an environment of its own, as nothing else here needs aiohttp."""

    name = "aiohttp"

    def prepare(self, say: Say) -> None:
        venv.install(["aiohttp", "uvloop"], say)

    def missing(self) -> str:
        return "" if venv.has("aiohttp") else "aiohttp is not installed and could not be"

    def version(self) -> str:
        loop = f"uvloop {venv.version('uvloop')}" if venv.has("uvloop") else "asyncio's loop"
        return f"{venv.version('aiohttp')} on {loop}"

    def command(self, site: Site) -> Command:
        ports = [str(site.listen), str(site.members[0].port)]
        return Command([str(venv.venv_python()), str(_SERVER), *ports])
