"""Building a fleet and its drivers from the settings."""

from __future__ import annotations

import psutil
import pytest

from steelyard.agent.build import (
    build_fleet,
    build_policy,
    build_rules,
    build_runtime,
    this_machine,
    worker_names,
)
from steelyard.config.settings import Application, Probe, Runtime, Scaling, Score, Settings, States
from steelyard.core.scaling.fixed import Fixed
from steelyard.core.scaling.need import Targets
from steelyard.core.scaling.predictive import Forecast, PredictivePolicy
from steelyard.core.scaling.step import StepPolicy
from steelyard.core.scaling.target import TargetPolicy, Tracking


def test_every_rule_comes_from_its_setting():
    """Each rule of the fleet has the value of its own setting."""
    rules = build_rules(Settings(
        application=Application(name="shop", command=("serve", "a b")),
        probe=Probe(failures=3, boot=31, hung=32),
        score=Score(cpu=1, memory=2, network=3, availability=4, network_capacity=5,
                    history=6, best=7, best_age=8, smoothing=0.9),
        states=States(low=11, high=12, hysteresis=1),
        scaling=Scaling(min=1, max=9, drain=33, dwell_down=34, backoff=35, backoff_max=36),
    ))  # fmt: skip
    assert (rules.application, rules.source) == ("shop", "serve 'a b'")
    assert (rules.min, rules.max) == (1, 9)
    assert (rules.patience, rules.boot, rules.hung) == (3, 31, 32)
    assert (rules.drain, rules.dwell_down) == (33, 34)
    assert (rules.backoff, rules.backoff_max) == (35, 36)
    assert (rules.cuts.low, rules.cuts.high, rules.cuts.hysteresis) == (11, 12, 1)
    weights = rules.rating.weights
    assert (weights.cpu, weights.memory, weights.network, weights.availability) == (1, 2, 3, 4)
    memory = rules.rating.memory
    assert (memory.history, memory.best, memory.best_age, memory.smoothing) == (6, 7, 8, 0.9)
    assert rules.rating.network_capacity == 5


def test_the_policy_comes_by_name_with_its_thresholds():
    """The policy is the one that the settings name, with its thresholds; `fixed` has none."""
    assert isinstance(build_policy(Settings(scaling=Scaling(policy="fixed"))), Fixed)
    policy = build_policy(Settings(scaling=Scaling(
        low=1, high=2, critical=3, up=4, down=5, cooldown=6, dwell_up=7, dwell_down=8
    )))  # fmt: skip
    assert isinstance(policy, StepPolicy)
    step = policy.step
    assert (step.low, step.high, step.critical, step.up) == (1, 2, 3, 4)
    assert (step.down, step.cooldown, step.dwell_up, step.dwell_down) == (5, 6, 7, 8)


def test_targets_come_with_their_windows():
    """Both policies that follow targets get the same targets and windows."""
    scaling = {
        "target_utilization": 1, "target_in_flight": 2, "target_wait": 3, "tolerance": 4,
        "window": 6, "stabilization": 7, "panic_window": 5, "panic": 108, "history": 9,
        "spare": 0.5,
    }  # fmt: skip
    target = build_policy(Settings(scaling=Scaling(policy="target", **scaling)))
    ahead = build_policy(Settings(scaling=Scaling(policy="predictive", **scaling)))
    expected = Tracking(
        Targets(1, 2, 3, 0.5), tolerance=4, window=6, stabilization=7, panic_window=5, panic=108
    )
    assert isinstance(target, TargetPolicy)
    assert target.tracking == expected
    assert isinstance(ahead, PredictivePolicy)
    assert (ahead.tracking, ahead.forecast.history) == (expected, 9)


def test_the_defaults_are_those_of_the_policies():
    """The defaults of settings and policies are equal, so the lab measures what agents run."""
    target = build_policy(Settings(scaling=Scaling(policy="target")))
    ahead = build_policy(Settings(scaling=Scaling(policy="predictive")))
    assert isinstance(target, TargetPolicy)
    assert target.tracking == Tracking()
    assert isinstance(ahead, PredictivePolicy)
    assert (ahead.tracking, ahead.forecast) == (Tracking(), Forecast())
    assert build_policy(Settings()) == StepPolicy()


def test_names_are_never_used_twice():
    """Names of workers are unique, have the application's name in them, and are valid DNS names."""
    name = worker_names("shop")
    names = {name() for _ in range(1000)}
    assert len(names) == 1000
    assert all(one.startswith("steelyard-shop-") and len(one) == 23 for one in names)


def test_the_machine_is_measured():
    """The cores and the memory of the machine are those that other programs find."""
    assert this_machine().memory == psutil.virtual_memory().total
    assert this_machine().cpus == psutil.cpu_count()


def test_each_life_of_a_fleet_has_an_epoch_of_its_own():
    """Epochs differ, so that versions of an earlier agent are not taken for this one's."""
    settings = Settings()
    epochs = {build_fleet(settings, None).publication.epoch for _ in range(3)}
    assert len(epochs) == 3


@pytest.mark.parametrize("kind", ["process", "docker", "swarm", "stub"])
def test_a_runtime_is_built_by_its_kind(kind):
    """Each kind of runtime can be built, which does not open it."""
    image = {"image": "shop:2", "port": 8000} if kind in {"docker", "swarm"} else {}
    assert build_runtime(Settings(runtime=Runtime(kind=kind, **image))).kind == kind
