"""The proxies that are measured, in the order of the table."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.bench.balancer.cases import Case
from steelyard.bench.proxies import haproxy, nginx
from steelyard.bench.proxies.aiohttp_proxy import Aiohttp
from steelyard.bench.proxies.base import Proxy
from steelyard.bench.proxies.caddy import Caddy
from steelyard.bench.proxies.haproxy import HAProxy
from steelyard.bench.proxies.nginx import Nginx
from steelyard.bench.proxies.ours import Ours

NGINX, HAPROXY = "nginx", "haproxy"
# With large bodies, the better of these two is the one to compare with.
TUNED = ("nginx-64k", "haproxy-64k")
COMPILED, PURE, AIOHTTP = "compiled", "pure", "aiohttp"
OURS = (COMPILED, PURE)


class Contender(NamedTuple):
    """A proxy, and the cases in which it takes part."""

    proxy: Proxy
    bodies_only: bool = False

    @property
    def name(self) -> str:
        return self.proxy.name

    def takes_part(self, case: Case) -> bool:
        return case.has_body or not self.bodies_only


def contenders() -> tuple[Contender, ...]:
    """All contenders, whether they are installed or not."""
    return (
        Contender(Ours(COMPILED, compiled=True)),
        Contender(Ours(PURE, compiled=False)),
        Contender(Nginx(NGINX)),
        Contender(HAProxy(HAPROXY)),
        Contender(Nginx(TUNED[0], nginx.BUFFERS_64K), bodies_only=True),
        Contender(HAProxy(TUNED[1], haproxy.BUFFERS_64K), bodies_only=True),
        Contender(
            HAProxy("haproxy-splice", haproxy.BUFFERS_64K, options=haproxy.SPLICE),
            bodies_only=True,
        ),
        Contender(Caddy()),
        Contender(Aiohttp()),
    )
