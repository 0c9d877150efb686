"""`steelyard up` on SIGHUP: new balancers, the same agent and workers."""

from __future__ import annotations

import asyncio
import signal

from tests.e2e.gateway import QUICK
from tests.e2e.load import Load


async def test_balancers_are_replaced_under_load_and_the_agent_knows(gateway, tmp_path):
    """No request fails; keys that need a restart of the agent are named; draining still works."""
    file = tmp_path / "my.toml"
    file.write_text("[gateway]\nprocesses = 2\n")
    g = gateway("--config", str(file), "--min", "2", "--max", "3", *QUICK).start()
    await g.ready()
    workers, agent = g.worker_pids(), g.children("agent")
    kept, new = Load(g.port, "/whoami"), Load(g.port, "/whoami", keep=False)
    async with kept.running(), new.running():
        await asyncio.gather(kept.more(20), new.more(20))
        file.write_text("[gateway]\nprocesses = 3\n[scaling]\ndrain = 7\n[probe]\ntimeout = 1\n")
        g.signal(signal.SIGHUP)
        while "the old balancers have ended" not in g.output():
            await asyncio.sleep(0.05)
        told = await g.until(lambda told: len(told.balancers) == 3)
        await asyncio.gather(kept.more(20), new.more(20))
        drained = told.workers[0].name
        assert await asyncio.to_thread(g.cli, "drain", drained)
        await g.until(lambda told: drained not in [w.name for w in told.workers])
    assert (kept.failed, new.failed) == ([], [])
    assert "only a restart changes the agent's probe.timeout, scaling.drain" in g.output()
    assert {one.name.partition("@")[0] for one in told.balancers} == {
        "balancer-0.2", "balancer-1.2", "balancer-2.2",
    }  # fmt: skip
    assert g.children("agent") == agent
    assert len(g.worker_pids() & workers) == 1
    assert g.stop() == 0
    assert g.workers() == []
