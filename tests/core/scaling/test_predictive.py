"""The predictive policy: it wants as many workers as `target`, or more."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.scaling.base import View
from steelyard.core.scaling.need import Targets
from steelyard.core.scaling.predictive import Forecast, PredictivePolicy
from steelyard.core.scaling.target import TargetPolicy, Tracking

TRACKING = Tracking(Targets(50, spare=0), window=10, stabilization=30)


def view(now: float, load: float, workers: int = 4, **changes) -> View:
    known = {"booting": 0, "min": 1, "max": 20, "retirable": 9, "boot": None}
    utilization = {f"w{i}": load for i in range(workers)}
    return View(now=now, workers=workers, utilization=utilization, **(known | changes))


def last(policy, load, boot=None):
    """The verdict of a policy after a minute of this load."""
    for tick in range(30):
        verdict = policy.decide(view(2.0 * tick, load(tick), boot=boot))
    return verdict


def rising(tick: int) -> float:
    """A load that rises from 20 to 49 % in a minute: the need grows by 2.4 workers a minute."""
    return 20.0 + tick


def test_it_starts_workers_before_they_are_needed():
    """Four workers can carry the load now, but not at the time when a new one would be ready."""
    assert last(TargetPolicy(TRACKING), rising).change == 0
    verdict = last(PredictivePolicy(TRACKING, Forecast(boot=20)), rising)
    assert verdict.change == +1
    assert verdict.reason == (
        "4.7 workers needed in 20 s (forecast, the need changes by +2.4 a minute) → +1"
    )


def test_it_looks_as_far_ahead_as_workers_took_to_boot():
    """A measured boot time replaces the configured one; short boot times need no forecast."""
    policy = PredictivePolicy(TRACKING, Forecast(boot=20))
    assert last(policy, rising, boot=1.0).change == 0
    far = last(PredictivePolicy(TRACKING, Forecast(boot=20)), rising, boot=60.0)
    assert far.reason == (
        "6.3 workers needed in 60 s (forecast, the need changes by +2.4 a minute) → +3"
    )


def test_a_falling_load_is_left_to_the_target():
    """No worker is retired because of a forecast."""
    quick = replace(TRACKING, stabilization=10)
    falling = [PredictivePolicy(quick), TargetPolicy(quick)]
    said = [last(policy, lambda tick: 50.0 - tick) for policy in falling]
    assert said[0] == said[1]
    assert said[0].change < 0


def test_nothing_is_forecast_from_a_moment():
    """A forecast needs at least five moments."""
    policy = PredictivePolicy(TRACKING, Forecast(boot=600))
    assert [policy.decide(view(2.0 * tick, 45 + tick)).change for tick in range(4)] == [0] * 4


def test_nothing_is_decided_while_nobody_serves():
    """Without a serving worker there are no needs to draw a line through."""
    verdict = PredictivePolicy(TRACKING).decide(view(0, 0, workers=0))
    assert (verdict.change, verdict.reason) == (
        0,
        "held: nothing is measured, as none of 0 workers has served yet",
    )


@given(st.lists(st.floats(0, 100), min_size=1, max_size=40), st.floats(0, 60))
def test_it_never_wants_less_than_the_target(loads, boot):
    """Under any load the policy wants at least as many workers as `target`."""
    ahead, target = PredictivePolicy(TRACKING), TargetPolicy(TRACKING)
    for tick, load in enumerate(loads):
        seen = view(2.0 * tick, load, boot=boot)
        assert ahead.decide(seen).change >= target.decide(seen).change
