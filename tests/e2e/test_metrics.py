"""The two addresses of `steelyard up` that Prometheus can scrape, side by side."""

from __future__ import annotations

import urllib.request

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.gateway import Gateway, free_port
from tests.e2e.load import Load
from tests.waiting import until


def scrape(url: str, token: str = "") -> dict[str, Metric]:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {family.name: family for family in families}


def by_worker(family: Metric, suffix: str) -> dict[str, float]:
    sums: dict[str, float] = {}
    for sample in family.samples:
        if sample.name.endswith(suffix):
            worker = sample.labels["worker"]
            sums[worker] = sums.get(worker, 0.0) + sample.value
    return sums


async def test_gateway_and_agent_tell_the_same_story_in_different_words(gateway):
    """No metric has the same name at both addresses, so nobody adds them up; their counts agree."""
    port = free_port()
    g: Gateway = gateway("--min", "2", "--max", "2", "--metrics", f"127.0.0.1:{port}").start()
    await g.ready()
    load = Load(g.port, "/whoami")
    async with load.running():
        await load.more(200)
    assert load.failed == []

    def both() -> tuple[dict[str, Metric], dict[str, Metric]]:
        token = (g.home / "token").read_text().strip()
        agent = scrape(f"http://127.0.0.1:{g.agent_port}/metrics", token)
        return scrape(f"http://127.0.0.1:{port}/metrics"), agent

    async def all_told() -> bool:
        ours, theirs = both()
        told = by_worker(ours["steelyard_gateway_answers"], "_total")
        reported = by_worker(theirs["steelyard_response_seconds"], "_count")
        return sum(told.values()) == load.answered and told == reported

    await until(all_told)
    ours, theirs = both()
    assert not ours.keys() & theirs.keys()
    assert f"metrics on http://127.0.0.1:{port}/metrics" in g.output()
