"""Builds a fleet and its drivers from the settings."""

from __future__ import annotations

import os
import random
import shlex
import uuid
from collections.abc import Callable

from steelyard.config.settings import Scaling, Settings
from steelyard.core.availability import Memory
from steelyard.core.fleet import Fleet
from steelyard.core.lifecycle import Cuts
from steelyard.core.meter import Rating
from steelyard.core.record import LimitsRecord
from steelyard.core.rules import Rules
from steelyard.core.scaling.base import Policy
from steelyard.core.scaling.fixed import Fixed
from steelyard.core.scaling.need import Targets
from steelyard.core.scaling.predictive import Forecast, PredictivePolicy
from steelyard.core.scaling.step import Step, StepPolicy
from steelyard.core.scaling.target import TargetPolicy, Tracking
from steelyard.core.score import Weights
from steelyard.core.usage import Machine
from steelyard.runtime.base import Runtime


def build_fleet(settings: Settings, limits: LimitsRecord | None) -> Fleet:
    """The fleet that these settings describe."""
    return Fleet(
        rules=build_rules(settings),
        policy=build_policy(settings),
        names=worker_names(settings.application.name),
        epoch=uuid.uuid4().hex,
        limits=limits,
    )


def build_rules(settings: Settings) -> Rules:
    """Every number that the fleet's decisions depend on."""
    scaling, probe = settings.scaling, settings.probe
    return Rules(
        application=settings.application.name,
        source=_source(settings),
        min=scaling.min,
        max=scaling.max,
        rating=build_rating(settings),
        cuts=Cuts(settings.states.low, settings.states.high, settings.states.hysteresis),
        patience=probe.failures,
        boot=probe.boot,
        hung=probe.hung,
        drain=scaling.drain,
        tunnel_drain=scaling.tunnel_drain,
        dwell_down=scaling.dwell_down,
        backoff=scaling.backoff,
        backoff_max=scaling.backoff_max,
        grace=settings.runtime.grace,
    )


def _source(settings: Settings) -> str:
    """The command line or image of which a worker is a copy, for records."""
    words = settings.application.command
    return shlex.join((settings.runtime.image, *words) if settings.runtime.image else words)


def build_rating(settings: Settings) -> Rating:
    """The numbers that scores are calculated with, on this machine."""
    score = settings.score
    return Rating(
        machine=this_machine(),
        weights=Weights(score.cpu, score.memory, score.network, score.availability),
        memory=Memory(score.history, score.best, score.best_age, score.smoothing),
        network_capacity=score.network_capacity,
    )


def this_machine() -> Machine:
    """The cores and the memory of this machine, which its workers share."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Machine(cpus=os.cpu_count() or 1, memory=memory)


def build_policy(settings: Settings) -> Policy:
    """The scaling policy that the settings name."""
    scaling = settings.scaling
    match scaling.policy:
        case "fixed":
            return Fixed()
        case "step":
            return StepPolicy(_step(scaling))
        case "target":
            return TargetPolicy(_tracking(scaling))
        case "predictive":
            return PredictivePolicy(_tracking(scaling), Forecast(history=scaling.history))


def _step(scaling: Scaling) -> Step:
    return Step(
        low=scaling.low,
        high=scaling.high,
        critical=scaling.critical,
        up=scaling.up,
        down=scaling.down,
        cooldown=scaling.cooldown,
        dwell_up=scaling.dwell_up,
        dwell_down=scaling.dwell_down,
    )


def _tracking(scaling: Scaling) -> Tracking:
    return Tracking(
        targets=Targets(
            utilization=scaling.target_utilization,
            in_flight=scaling.target_in_flight,
            wait=scaling.target_wait,
            spare=scaling.spare,
        ),
        tolerance=scaling.tolerance,
        window=scaling.window,
        stabilization=scaling.stabilization,
        panic_window=scaling.panic_window,
        panic=scaling.panic,
    )


def worker_names(application: str) -> Callable[[], str]:
    """A function that returns a new name for a worker with each call."""
    return lambda: f"steelyard-{application}-{uuid.uuid4().hex[:8]}"


def build_runtime(settings: Settings) -> Runtime:
    """The runtime that the settings name; its module is imported only if it is used."""
    match settings.runtime.kind:
        case "process":
            from steelyard.runtime.process import ProcessRuntime

            return ProcessRuntime(
                settings.application, settings.runtime, settings.folder, random.Random(), alone=True
            )
        case "docker":
            from steelyard.runtime.docker.runtime import DockerRuntime

            return DockerRuntime(settings.application, settings.runtime, settings.folder)
        case "swarm":
            from steelyard.runtime.swarm.runtime import SwarmRuntime

            return SwarmRuntime(settings.application, settings.runtime, settings.folder)
        case "stub":
            from steelyard.runtime.stub import StubRuntime

            return StubRuntime()
