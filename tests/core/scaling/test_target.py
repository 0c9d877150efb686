"""The target policy, as playbooks: a load over time, and the verdicts of the policy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.scaling.base import View
from steelyard.core.scaling.need import Targets
from steelyard.core.scaling.target import TargetPolicy, Tracking

TRACKING = Tracking(
    Targets(50, spare=0), tolerance=10, window=10, stabilization=30, panic_window=4, panic=180
)


def view(now: float, load: list[float], **changes) -> View:
    known = {"workers": len(load), "booting": 0, "min": 1, "max": 8, "retirable": 9}
    utilization = {f"w{i}": u for i, u in enumerate(load)}
    return View(now=now, utilization=utilization, **(known | changes))


def after(seconds: float, load: list[float], **changes):
    """The verdict once the load has lasted for so many seconds, with ticks of 2 s."""
    policy = TargetPolicy(TRACKING)
    for tick in range(int(seconds // 2)):
        policy.decide(view(2.0 * tick, load, **changes))
    return policy.decide(view(seconds, load, **changes))


def needed(workers: float, load: int, ready: int) -> str:
    return f"{workers} workers needed over 10 s (mean U {load} of {ready} workers, target U 50)"


@pytest.mark.parametrize(
    ("load", "seconds", "changes", "change", "reason"),
    [
        ([70, 70], 10, {}, +1, f"{needed(2.8, 70, 2)} → +1"),
        ([80] * 5, 10, {}, +3, f"{needed(8.0, 80, 5)} → +3"),
        ([80] * 5, 10, {"workers": 8, "booting": 3}, 0, "steady with 8 workers: 8.0 workers"),
        ([54, 54], 10, {}, 0, f"steady with 2 workers: {needed(2.2, 54, 2)}"),
        ([46, 46], 10, {}, 0, "steady with 2 workers: 1.8 workers needed over 10 s"),
        ([80] * 5, 10, {"max": 6}, +1, f"{needed(8.0, 80, 5)} → +1"),
        ([80] * 5, 10, {"max": 5}, 0, "held: at max 5, 8.0 workers needed"),
        ([20] * 5, 32, {}, -3, f"{needed(2.0, 20, 5)} → -3"),
        ([20] * 5, 32, {"retirable": 1}, -1, "2.0 workers needed"),
        ([20] * 5, 32, {"retirable": 0}, 0, "held: no worker may be retired yet, 2.0 workers"),
        ([20] * 5, 32, {"min": 4}, -1, "2.0 workers needed"),
        ([0] * 3, 30, {"min": 3}, 0, f"steady with 3 workers: {needed(0.0, 0, 3)}"),
        ([], 30, {"workers": 2, "booting": 2}, 0, "held: nothing is measured, as none of 2"),
    ],
)
def test_verdicts(load, seconds, changes, change, reason):
    """Each verdict gives the measurements that led to it."""
    verdict = after(seconds, load, **changes)
    assert verdict.change == change
    assert verdict.reason.startswith(reason)


def test_a_lull_does_not_cost_workers():
    """Workers are retired only if no moment of the stabilisation window needed more of them."""
    policy = TargetPolicy(TRACKING)
    said = [
        policy.decide(view(2.0 * tick, [50] * 4 if tick < 5 else [10] * 4)) for tick in range(26)
    ]
    assert all(verdict.change == 0 for verdict in said[:20])
    assert said[12].reason.startswith(
        "held: 4 workers were wanted within the last 30 s, 0.8 workers"
    )
    # The mean over the window falls step by step: at first 3 workers are wanted.
    assert next(verdict.change for verdict in said if verdict.change) == -1
    assert said[-1].change == -3


def test_what_it_finds_at_its_start_was_wanted():
    """A new policy retires no worker for lack of measurements."""
    policy = TargetPolicy(TRACKING)
    verdict = policy.decide(view(100, [0] * 4))
    assert verdict.change == 0
    assert verdict.reason.startswith("held: 4 workers were wanted within the last 30 s")
    assert policy.decide(view(131, [0] * 4)).change == -3


def test_panic_does_not_wait_for_the_window():
    """A sudden load after half a minute of calm is met after the short window."""
    policy = TargetPolicy(TRACKING)
    for tick in range(15):
        policy.decide(view(2.0 * tick, [40, 40], completed=80 + tick, open=10))
    assert policy.decide(view(30, [100, 100], completed=100, open=10)).change == 0
    verdict = policy.decide(view(32, [100, 100], completed=120, open=30))
    assert verdict.change == +4
    panic = "over 4 s: panic (mean U 100 of 2 workers, × 2.0 as more requests arrived than"
    assert panic in verdict.reason


def test_nobody_is_retired_in_a_panic():
    """No worker is retired for the length of a window after the last panic."""
    policy = TargetPolicy(
        Tracking(Targets(50, spare=0), window=10, stabilization=0, panic_window=4)
    )
    policy.decide(view(0, [100]))
    said = {now: policy.decide(view(now, [1, 1, 1, 1])) for now in (4, 6, 8, 10)}
    assert said[8].change == 0
    kept = "no worker is retired, the last panic was 8 s ago"
    assert said[8].reason == f"steady with 4 workers: {kept}"
    assert said[10].change < 0


@given(
    st.lists(
        st.tuples(st.lists(st.floats(0, 100), max_size=6), st.integers(0, 50), st.integers(0, 9)),
        min_size=1,
        max_size=30,
    ),
    st.integers(1, 3),
    st.integers(0, 5),
)
def test_no_verdict_leaves_the_limits_or_lacks_a_reason(moments, low, spread):
    """Under any load the limits hold, and no more workers go than may be retired."""
    policy = TargetPolicy(
        Tracking(Targets(50, 3, 1, spare=0), window=8, stabilization=8, panic_window=4)
    )
    for tick, (load, count, spare) in enumerate(moments):
        workers = min(max(len(load), low), low + spread)
        seen = view(
            2.0 * tick, load, workers=workers, min=low, max=low + spread, retirable=spare,
            open=count, completed=tick * count, wait=count / 10,
        )  # fmt: skip
        verdict = policy.decide(seen)
        assert verdict.reason
        assert low <= workers + verdict.change <= low + spread
        assert -verdict.change <= spare
