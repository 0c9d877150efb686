"""HAProxy, with one thread."""

from __future__ import annotations

from typing import ClassVar

from steelyard.bench import tools
from steelyard.bench.launch import Command
from steelyard.bench.ports import HOST
from steelyard.bench.proxies.base import CONNECTIONS, Proxy, Site

# HAProxy wants two files per connection, and does not start where it may not have them; idle
# clients need only one.
_FILE = """
global
  nbthread 1
  maxconn {connections}
  no strict-limits
  {buffers}
defaults
  mode http
  timeout connect 5s
  timeout client 300s
  timeout server 300s
  timeout tunnel 300s
  option http-keep-alive
  http-reuse always
  {options}
frontend clients
  bind {host}:{listen} backlog 4096
  default_backend members
backend members
  balance {balance}
  option forwardfor
  http-request set-header X-Forwarded-Proto http
  http-request add-header Via "1.1 haproxy"
  http-response add-header Via "1.1 haproxy"
  {members}
"""
BUFFERS_64K = "tune.bufsize 65536"
SPLICE = "option splice-response"  # bodies stay in the kernel
# HAProxy keeps 512 KiB of buffers at hand and frees the others, which glibc returns to the kernel
# at once: with buffers of 64 KiB that cost it 40 % (tune.memory.hot-size came after Debian's 2.6).
_KEEP_HEAP = {"MALLOC_TRIM_THRESHOLD_": str(2**28), "MALLOC_TOP_PAD_": str(2**24)}


class HAProxy(Proxy):
    """HAProxy with given buffers and a given balancing algorithm."""

    program: ClassVar[str] = "haproxy"

    def __init__(
        self,
        name: str = "haproxy",
        buffers: str = "",
        balance: str = "roundrobin",
        options: str = "",
    ) -> None:
        self.name = name
        self._buffers = buffers
        self._options = options
        self._balance = balance

    def missing(self) -> str:
        return tools.why_missing(self.program)

    def version(self) -> str:
        words = tools.first_line(tools.find(self.program) or "", "-v").split()
        return words[2].partition("-")[0] if len(words) > 2 else "unknown"

    def command(self, site: Site) -> Command:
        members = (
            f"server member{index} {HOST}:{port} weight {weight}"
            for index, (port, weight) in enumerate(site.members)
        )
        file = site.folder / "haproxy.cfg"
        text = _FILE.format(
            connections=CONNECTIONS,
            buffers=self._buffers,
            options=self._options,
            balance=self._balance,
            host=HOST,
            listen=site.listen,
            members="\n  ".join(members),
        )
        file.write_text(text)
        words = [tools.find(self.program) or self.program, "-db", "-f", str(file)]
        return Command(words, _KEEP_HEAP)
