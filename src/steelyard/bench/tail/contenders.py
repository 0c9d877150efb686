"""The ways to choose a worker that are compared."""

from __future__ import annotations

from steelyard.bench.proxies.base import Proxy
from steelyard.bench.proxies.haproxy import HAProxy
from steelyard.bench.proxies.nginx import Nginx
from steelyard.bench.proxies.ours import Ours
from steelyard.config.keys import every_key
from steelyard.purity import is_built

POLICY_KEY = "gateway.policy"


def contenders() -> tuple[Proxy, ...]:
    """All our policies, then the best of the other proxies."""
    return (
        *our_policies(),
        Nginx("nginx random two least_conn", balance="zone members 64k; random two least_conn;"),
        HAProxy("HAProxy leastconn", balance="leastconn"),
    )


def our_policies() -> list[Proxy]:
    """Every policy that the configuration knows by name; without such a key, the ring."""
    names = [name for key in every_key() if key.dotted == POLICY_KEY for name in key.choices]
    if not names:
        return [Ours("steelyard ring", is_built())]
    return [Ours(f"steelyard {name}", is_built(), policy=name) for name in names]
