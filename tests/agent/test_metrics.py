"""The metrics that Prometheus scrapes from the agent."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from steelyard.agent.metrics import Metrics
from steelyard.core.events import RuntimeFound, RuntimeLost
from steelyard.core.report import BOUNDS, Report, Traffic
from steelyard.core.status import status
from tests.core.driver import Driver


def scraped(metrics: Metrics, driver: Driver) -> dict[tuple[str, str], float]:
    text = metrics.expose(status(driver.fleet, driver.now)).decode()
    return {
        (sample.name, ",".join(sorted(sample.labels.values()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_reports_are_summed_and_the_fleet_is_shown():
    """Counters add up all reports, and gauges have the current state of the fleet."""
    metrics, driver = Metrics(), Driver().booted()
    histogram = (0, 3, *(0,) * (len(BOUNDS) - 1))
    traffic = Traffic(
        inflight=2, requests=3, failures=1, bytes=10, seconds=0.003, histogram=histogram
    )
    for _ in range(2):
        told = Report(
            balancer="b", epoch="e", version=1, workers={"w1": traffic}, refused=5, unshaken=7
        )
        metrics.add(told, {"w1"})
    driver.report("b", w1=2)
    told = scraped(metrics, driver)
    assert told["steelyard_requests_total", "w1"] == 6
    assert told["steelyard_failures_total", "w1"] == 2
    assert told["steelyard_refused_total", ""] == 10
    assert told["steelyard_tls_failures_total", ""] == 14
    assert told["steelyard_workers", "LU"] == 2
    assert told["steelyard_worker_inflight", "w1"] == 2
    assert told["steelyard_response_seconds_bucket", "0.001,w1"] == 6
    assert told["steelyard_response_seconds_bucket", "0.0005,w1"] == 0
    assert told["steelyard_response_seconds_count", "w1"] == 6


def test_an_ended_worker_is_dropped():
    """The metrics drop an ended worker, so that labels do not pile up."""
    metrics, driver = Metrics(), Driver().booted()
    traffic = Traffic(inflight=0, requests=1, failures=0, bytes=0, seconds=0)
    last = Report(balancer="b", epoch="e", version=1, workers={"w1": traffic})
    metrics.add(last, {"w1", "w2"})
    metrics.forget("w1")
    metrics.add(last, {"w2"})  # a balancer's report that arrives after the worker's end
    assert ("steelyard_requests_total", "w1") not in scraped(metrics, driver)


def test_every_metric_of_the_agent_is_in_the_document_and_no_other():
    """The table in docs/metrics.md lists exactly the metrics of the agent."""
    text = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    table = text.partition("## The agent's")[2]
    documented = set(re.findall(r"`(steelyard_\w+)`", table))
    driver = Driver().booted()
    exposed = Metrics().expose(status(driver.fleet, driver.now)).decode()
    families = re.findall(r"^# TYPE (\S+) \S+$", exposed, flags=re.MULTILINE)
    assert documented == set(families)


def test_a_runtime_that_is_away_is_shown_and_counted():
    """The metrics have the seconds of the current absence, and count all absences."""
    driver = Driver().booted()
    driver.tell(RuntimeLost("no engine"))
    driver.now += 5
    told = scraped(Metrics(), driver)
    assert told["steelyard_runtime_away_seconds", ""] == 5
    assert told["steelyard_runtime_losses_total", ""] == 1
    driver.tell(RuntimeFound())
    told = scraped(Metrics(), driver)
    assert told["steelyard_runtime_away_seconds", ""] == 0
    assert told["steelyard_runtime_losses_total", ""] == 1
