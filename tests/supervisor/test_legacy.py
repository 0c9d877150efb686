"""The next `steelyard balancer` after one whose supervisor was killed."""

from __future__ import annotations

import asyncio
import os
import signal

import psutil

from tests.e2e.load import Load


async def test_the_next_one_takes_over_the_port_of_balancers_that_were_left_alone(proxy, worker):
    """No request fails in two take-overs in a row, on kept or on new connections."""
    p = proxy(worker.port).start()
    kept, new = Load(p.port, "/"), Load(p.port, "/", keep=False)
    async with kept.running(), new.running():
        for _ in range(2):
            old = p.balancers()
            os.kill(p.process.pid, signal.SIGKILL)
            p.process.wait()
            await asyncio.gather(kept.more(100), new.more(100))
            await asyncio.to_thread(p.start)
            await asyncio.to_thread(p.says, "the old balancers have ended")
            await asyncio.gather(kept.more(100), new.more(100))
            _, alive = psutil.wait_procs(old, timeout=30)
            assert [one for one in alive if one.status() != psutil.STATUS_ZOMBIE] == []
    assert (kept.failed, new.failed) == ([], [])
    assert len(p.balancers()) == 2
    assert p.close() == 0
    assert list(p.file.parent.glob("state/**/lock")) == []


def test_what_they_write_meanwhile_is_in_a_file(proxy, worker):
    """Balancers without a supervisor write their messages to a file."""
    p = proxy(worker.port, processes=1).start()
    p.process.kill()
    p.process.wait()
    [folder] = p.file.parent.glob("state/gateways/*")
    p.start()
    assert (
        "the supervisor is gone; clients are served on" in (folder / "balancer-0.log").read_text()
    )
    assert p.close() == 0
