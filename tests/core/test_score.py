"""The score: the published sum, and the cap by the CPU."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.score import Components, Weights, components, network_usage, score, weighted_sum
from steelyard.core.usage import Usage

PERCENT = st.floats(0, 100)


def test_the_sum_is_the_published_one():
    """The weights are 0.35 CPU, 0.25 memory, 0.15 network and 0.25 availability."""
    parts = Components(cpu=80, memory=60, network=40, availability=20)
    assert weighted_sum(parts, Weights()) == pytest.approx(28 + 15 + 6 + 5)


def test_only_the_proportions_of_the_weights_matter():
    """Weights are normalised to a sum of 1."""
    parts = Components(cpu=80, memory=60, network=40, availability=20)
    assert weighted_sum(parts, Weights(35, 25, 15, 25)) == pytest.approx(
        weighted_sum(parts, Weights())
    )


def test_a_saturated_core_is_full_utilization():
    """The weighted sum alone would give this worker a score of 65."""
    parts = components(Usage(cpu=100, memory=0, network=0), 0, None)
    assert weighted_sum(parts, Weights()) == pytest.approx(65)
    assert score(parts, Weights()) == 0


def test_an_idle_worker_scores_full():
    """A worker that uses nothing and answers at its best scores 100."""
    assert score(components(Usage(0, 0, 0), 0, 100), Weights()) == 100


@pytest.mark.parametrize(
    ("rate", "previous", "capacity", "expected"),
    [
        (5, None, None, 0),  # nothing to compare with
        (5, 0, None, 0),
        (6, 5, None, 20),
        (50, 5, None, 100),  # clipped
        (1, 5, None, 0),  # a rate that falls counts as no usage
        (5, None, 20, 25),  # a share of the capacity
        (50, 1, 20, 100),
    ],
)
def test_network_usage(rate, previous, capacity, expected):
    """Usage is a share of the capacity if there is one, else the growth since the last sample."""
    assert network_usage(rate, previous, capacity) == pytest.approx(expected)


@given(PERCENT, PERCENT, PERCENT, PERCENT)
def test_the_score_is_bounded_and_never_better_than_the_cpu(cpu, memory, network, available):
    """The score is within 0…100 for all usages, and at most the unused share of the CPU."""
    value = score(components(Usage(cpu, memory, None), network, available), Weights())
    assert 0 <= value <= 100 - cpu + 1e-9


@given(PERCENT, PERCENT, PERCENT)
def test_more_cpu_never_improves_the_score(cpu, more, memory):
    """The score falls monotonically with CPU usage."""
    low, high = sorted((cpu, more))
    quiet = score(components(Usage(low, memory, None), 0, 100), Weights())
    busy = score(components(Usage(high, memory, None), 0, 100), Weights())
    assert busy <= quiet + 1e-9
