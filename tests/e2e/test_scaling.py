"""The fleet grows under load and shrinks after it, and no request fails."""

from __future__ import annotations

import pytest

from tests.e2e.gateway import QUICK, each_runtime
from tests.e2e.load import Load

pytestmark = pytest.mark.alone


@each_runtime
async def test_the_fleet_grows_to_max_and_shrinks_to_min_without_a_failed_request(gateway):
    """CPU load makes the fleet grow, a trickle lets it shrink; every request is counted."""
    g = gateway("--min", "2", "--max", "4", *QUICK).start()
    await g.ready()
    trickle = Load(g.port, "/sleep?ms=20", connections=2)
    async with trickle.running():
        storm = Load(g.port, "/cpu?ms=30", connections=8)
        async with storm.running():
            grown = await g.until(lambda told: told.ready == 4, timeout=120)
            while len(storm.workers) < 4:  # the newest worker serves, too
                await storm.more(1)
        shrunk = await g.until(lambda told: len(told.workers) == 2, timeout=120)
    assert storm.failed == []
    assert trickle.failed == []

    ups = [d for d in grown.decisions if d.action == "up"]
    downs = [d for d in shrunk.decisions if d.action == "down"]
    assert (len(ups), len(downs)) == (2, 2)
    assert all("≥" in d.reason and "→ +1" in d.reason for d in ups)
    assert all("<" in d.reason and "→ -1" in d.reason for d in downs)
    shown = g.cli("status", "--decisions", "50").stdout
    assert all(d.reason in shown for d in ups + downs)
    assert all(d.reason in g.output() for d in ups + downs)
    assert [w.default for w in shrunk.workers] == [True, True]


async def test_limits_changed_at_run_time_hold_across_a_restart(gateway):
    """`steelyard scale` starts workers at once, and the next agent keeps the limits."""
    g = gateway("--min", "1", "--max", "2", *QUICK).start()
    await g.ready()
    g.cli("scale", "--min", "3", "--max", "5")
    await g.ready(3)
    g.children("agent")[0].kill()
    told = await g.until(lambda told: told.ready == 3 and told.decisions[0].action == "adopt")
    assert (told.min, told.max) == (3, 5)
    assert "3…5 (set at run time; configured 1…2) allowed" in g.cli("status").stdout
    g.cli("scale", "--reset")
    told = await g.until(lambda told: len(told.workers) <= 2)  # the policy may want only one worker
    assert (told.min, told.max) == (1, 2)


async def test_draining_a_worker_replaces_it_without_a_failed_request(gateway):
    """A worker can be drained in the middle of its requests."""
    g = gateway("--min", "2", "--max", "2", *QUICK).start()
    told = await g.ready()
    name = told.workers[0].name
    load = Load(g.port, "/sleep?ms=50", connections=8)
    async with load.running():
        await load.more(50)
        g.cli("drain", name[-8:])
        gone = await g.until(
            lambda told: told.ready == 2 and name not in {w.name for w in told.workers}
        )
        await load.more(50)
    assert load.failed == []
    assert any(d.action == "drain" and d.workers == (name,) for d in gone.decisions)
