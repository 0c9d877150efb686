"""Means over seeds, and how far they may be off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt
from statistics import fmean, stdev

Z = 1.959964  # 95 % of a normal distribution lie within ±Z


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95 % confidence interval, and the extremes of the runs."""

    mean: float
    margin: float  # nan if there was only one run
    least: float
    most: float


def estimate(values: Sequence[float]) -> Estimate:
    """The estimate from independent runs.

    >>> told = estimate([1.0, 2.0, 3.0])
    >>> told.mean, round(told.margin, 1)
    (2.0, 2.2)
    """
    runs = len(values)
    margin = _student(runs - 1) * stdev(values) / sqrt(runs) if runs > 1 else nan
    return Estimate(fmean(values), margin, min(values), max(values))


def _student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, by the first terms of its expansion around the normal one
    (Abramowitz and Stegun 26.7.5): within 1 % from four degrees of freedom on."""
    first = (Z**3 + Z) / (4 * freedom)
    second = (5 * Z**5 + 16 * Z**3 + 3 * Z) / (96 * freedom**2)
    return Z + first + second
