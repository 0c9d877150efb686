"""The meter: the measurements that make a worker's score."""

from __future__ import annotations

import pytest

from steelyard.core.meter import Meter, Rating, Tally
from steelyard.core.report import BOUNDS, Traffic
from steelyard.core.usage import Allowance, Machine, Sample

RATING = Rating(Machine(cpus=2, memory=1000))
FREE = Allowance()


def traffic(requests: int, seconds: float, size: int = 0) -> Traffic:
    histogram = (requests, *(0,) * len(BOUNDS))
    return Traffic(
        inflight=0, requests=requests, failures=0, bytes=size, seconds=seconds, histogram=histogram
    )


def test_one_sample_is_not_a_measurement():
    """The score is 100 until there are two samples."""
    meter = Meter(RATING)
    meter.take(Sample(0, 100, 0), FREE)
    assert (meter.score, meter.usage) == (100, None)


def test_network_comes_from_the_reports_when_the_runtime_cannot_tell():
    """The rate is the bytes that balancers reported since the last sample, per second."""
    meter = Meter(RATING)
    meter.take(Sample(0, 0, 0), FREE)
    meter.add_traffic(traffic(1, 0.1, size=3_000_000))
    meter.add_traffic(traffic(1, 0.1, size=1_000_000))
    meter.take(Sample(2, 0, 0), FREE)
    assert meter.rate == 2


def test_network_comes_from_the_runtime_when_it_can_tell():
    """The runtime's counters of a container take precedence over reports."""
    meter = Meter(RATING)
    meter.take(Sample(0, 0, 0, network_bytes=0), FREE)
    meter.add_traffic(traffic(1, 0.1, size=9_000_000))
    meter.take(Sample(2, 0, 0, network_bytes=2_000_000), FREE)
    assert meter.rate == 1


def test_slowing_answers_lower_the_score():
    """The mean response time of each interval enters the score."""
    meter = Meter(RATING)
    meter.take(Sample(0, 0, 0), FREE)
    for moment, seconds in enumerate([0.1, 0.1, 0.9, 0.9], start=1):
        meter.add_traffic(traffic(10, 10 * seconds))
        meter.take(Sample(moment, 0, 0), FREE)
    assert meter.parts is not None
    assert meter.parts.availability < 80
    assert meter.score < 95


def test_quick_probes_do_not_make_requests_look_slow():
    """Probes count only while there is no traffic, and have a history of their own."""
    meter = Meter(RATING)
    meter.take(Sample(0, 0, 0), FREE)
    for moment in range(1, 5):
        meter.add_probe(0.0001)
        meter.take(Sample(moment, 0, 0), FREE)
    meter.add_traffic(traffic(1, 0.5))
    meter.take(Sample(5, 0, 0), FREE)
    assert meter.parts is not None
    assert meter.parts.availability == 100


def test_a_restarted_meter_takes_a_new_base_line():
    """Consumption before the restart is not counted."""
    meter = Meter(RATING)
    meter.take(Sample(0, 0, 0), FREE)
    meter.restart()
    meter.take(Sample(1, 1.0, 0), FREE)
    meter.take(Sample(2, 1.1, 0), FREE)
    assert meter.usage is not None
    assert meter.usage.cpu == pytest.approx(10)


def test_a_tally_gives_the_mean_once():
    """A tally is empty after its mean was taken."""
    tally = Tally()
    tally.add(2, 1.0)
    assert (tally.take(), tally.take()) == (0.5, None)
