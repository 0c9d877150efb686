"""Caddy, with one scheduler thread of Go."""

from __future__ import annotations

from typing import ClassVar

from steelyard.bench import tools
from steelyard.bench.launch import Command
from steelyard.bench.ports import HOST
from steelyard.bench.proxies.base import Proxy, Site

# Caddy adds X-Forwarded-For and X-Forwarded-Proto by default.
_FILE = """
{{
  admin off
  auto_https off
  grace_period 1s
  log {{
    level ERROR
  }}
}}
:{listen} {{
  bind {host}
  reverse_proxy {members} {{
    header_up Via "1.1 caddy"
    header_down Via "1.1 caddy"
    transport http {{
      keepalive_idle_conns_per_host 256
    }}
  }}
}}
"""


class Caddy(Proxy):
    """Caddy with its defaults, except for the idle connections it keeps: 32 would be too few."""

    name = "caddy"
    program: ClassVar[str] = "caddy"

    def missing(self) -> str:
        return tools.why_missing(self.program)

    def version(self) -> str:
        return tools.first_line(tools.find(self.program) or "", "version").split()[0]

    def command(self, site: Site) -> Command:
        file = site.folder / "Caddyfile"
        members = " ".join(f"{HOST}:{member.port}" for member in site.members)
        file.write_text(_FILE.format(listen=site.listen, host=HOST, members=members))
        program = tools.find(self.program) or self.program
        words = [program, "run", "--adapter", "caddyfile", "--config", str(file)]
        home = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(site.folder))
        return Command(words, {"GOMAXPROCS": "1", **home})
