"""The balancer of this package, with or without its compiled modules."""

from __future__ import annotations

import steelyard
from steelyard.bench.launch import Command
from steelyard.bench.ports import HOST
from steelyard.bench.proxies.base import CONNECTIONS, Proxy, Site
from steelyard.purity import VARIABLE, is_built
from steelyard.python import module


class Ours(Proxy):
    """`steelyard balancer` with one process."""

    def __init__(self, name: str, compiled: bool, policy: str = "") -> None:
        self.name = name
        self._compiled = compiled
        self._policy = policy

    def missing(self) -> str:
        return "not built" if self._compiled and not is_built() else ""

    def version(self) -> str:
        return f"{steelyard.__version__}, {'compiled' if self._compiled else 'pure Python'}"

    def command(self, site: Site) -> Command:
        words = module("steelyard", "balancer")
        words += ["--listen", f"{HOST}:{site.listen}", "--processes", "1", "--log-level", "error"]
        words += ["--gateway-connections", str(CONNECTIONS), "--state", str(site.folder)]
        for port, weight in site.members:
            words += ["--worker", f"{HOST}:{port}={weight}"]
        if self._policy:
            words += ["--gateway-policy", self._policy]
        return Command(words, {VARIABLE: "0" if self._compiled else "1"})
