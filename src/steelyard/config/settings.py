"""The settings: all keys. The keys of the tables are in `sections`, grouped by subject.

Settings are one frozen object, made once and passed down. docs/configuration.md, the flags and the
environment variables are generated from it. `flag` in a field is a short flag for a key that people
type often; the long flag of every key is `--section-key`.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from steelyard.config.section import Rule, Section, key
from steelyard.config.sections.agent import Agent, Log, Store
from steelyard.config.sections.gateway import Gateway, Policy
from steelyard.config.sections.scaling import Scaling, Score, States
from steelyard.config.sections.workers import Application, Probe, Runtime

__all__ = [
    "Agent",
    "Application",
    "Gateway",
    "Log",
    "Policy",
    "Probe",
    "Runtime",
    "Scaling",
    "Score",
    "Settings",
    "States",
    "Store",
]


class Settings(Section):
    """The whole configuration."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "two different addresses",
            ("agent.listen", "gateway.listen"),
            lambda it: not it.agent.listen.clashes(it.gateway.listen),
        ),
        Rule(
            "a metrics address that differs from both others",
            ("gateway.metrics", "gateway.listen", "agent.listen"),
            lambda it: (
                it.gateway.metrics is None
                or not any(
                    it.gateway.metrics.clashes(other)
                    for other in (it.gateway.listen, it.agent.listen)
                )
            ),
        ),
        Rule(
            "a store that agents can share",
            ("agent.lease", "store.url"),
            lambda it: it.agent.lease == 0 or it.store.url != "memory:",
        ),
        Rule(
            "leftovers = adopt with a lease, because a new leader must not stop the workers",
            ("agent.lease", "runtime.leftovers"),
            lambda it: it.agent.lease == 0 or it.runtime.leftovers == "adopt",
        ),
        Rule(
            "a port for each worker",
            ("runtime.ports", "scaling.max"),
            lambda it: it.ports_suffice(it.scaling.max),
        ),
    )

    state: Path = key(
        Path("~/.local/state/steelyard"),
        "Folder of the token, the embedded store and the workers' logs.",
        flag="--state",
    )
    application: Application = Application()
    runtime: Runtime = Runtime()
    probe: Probe = Probe()
    score: Score = Score()
    states: States = States()
    scaling: Scaling = Scaling()
    agent: Agent = Agent()
    gateway: Gateway = Gateway()
    store: Store = Store()
    log: Log = Log()

    @property
    def folder(self) -> Path:
        """The application's own folder below the state folder."""
        return self.state.expanduser() / self.application.name

    def ports_suffice(self, workers: int) -> bool:
        """Whether there are enough ports for so many workers; containers have their own ports."""
        first, last = self.runtime.ports
        return self.runtime.kind != "process" or workers <= last - first + 1

    @property
    def token_file(self) -> Path:
        return self.state.expanduser() / "token"
