"""Closed forms, at points where the answer is known."""

from __future__ import annotations

import pytest

from steelyard.lab.theory import (
    erlang_c,
    leading_term,
    mmc_wait,
    random_maximum,
    two_choices_length,
)


@pytest.mark.parametrize("load", [0.1, 0.5, 0.9])
def test_one_server_is_mm1(load):
    """In M/M/1 the mean wait is ρ / (1 − ρ), and the chance of a wait is ρ."""
    assert mmc_wait(load, 1) == pytest.approx(load / (1 - load))
    assert erlang_c(load, 1) == pytest.approx(load)


def test_erlang_c_of_a_textbook():
    """For two servers the formula is 2ρ² / (1 + ρ), and a hundred servers do not overflow."""
    assert erlang_c(0.8, 2) == pytest.approx(2 * 0.8**2 / 1.8)
    assert 0 < erlang_c(0.9, 1000) < erlang_c(0.9, 100) < 1


@pytest.mark.parametrize(("load", "seconds"), [(0.5, 1.2657), (0.9, 2.6141), (0.99, 5.4320)])
def test_two_choices_as_published(load, seconds):
    """The mean time in system with infinitely many workers is as published by Mitzenmacher."""
    assert two_choices_length(load) / load == pytest.approx(seconds, abs=1e-4)


def test_one_choice_of_the_same_formula_is_mm1():
    """(d^k − 1)/(d − 1) tends to k: nearly one choice is nearly M/M/1."""
    assert two_choices_length(0.5, 1.0001) == pytest.approx(1.0, rel=1e-2)


def test_the_maximum_of_random_loads():
    """More bins give a lower maximum, but never one below the mean."""
    assert random_maximum(10, 10) == pytest.approx(2.8, abs=0.3)
    assert random_maximum(10**6, 10**4) > 100
    assert leading_term(10**4, 2) < leading_term(10**4, 1) < random_maximum(10**4, 10**4)
