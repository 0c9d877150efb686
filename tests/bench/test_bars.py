"""The bars, compared with a run."""

from __future__ import annotations

import pytest

from steelyard.bench.balancer.overview import bars, ratios
from tests.bench.samples import report, sample


def verdicts(*samples):
    return {(one.ours, one.case, *one.others): one for one in report(*samples).bars}


@pytest.mark.parametrize(("ours", "kept"), [(94, True), (95, True), (96, False)])
def test_a_bar_is_a_share_of_the_others_cost(ours, kept):
    """A bar that is just reached counts as kept."""
    told = verdicts(
        sample("compiled", 0, ours, case="small"), sample("nginx", 0, 100, case="small")
    )
    one = told["compiled", "small", "nginx"]
    assert (one.found, one.kept) == (pytest.approx(ours / 100), kept)
    assert told["compiled", "small", "haproxy"].kept is None


def test_bodies_are_held_against_the_better_of_two():
    """Bodies are compared with the better of two contenders, which is known only if both were
    measured.
    """
    ours, nginx = sample("compiled", 0, 100), sample("nginx-64k", 0, 200)
    key = ("compiled", "64k", "nginx-64k", "haproxy-64k")
    assert verdicts(ours, nginx)[key].kept is None
    assert verdicts(ours, nginx, sample("haproxy-64k", 0, 90))[key].found == pytest.approx(100 / 90)


@pytest.mark.parametrize(("size", "kept"), [(1200.0, True), (1300.0, False)])
def test_idle_connections_have_a_size_of_their_own(size, kept):
    """Idle connections may take 1.2 KiB, whatever others need."""
    told = verdicts(sample("compiled", 0, 9, case="idle", idle_bytes=size))
    assert told["compiled", "idle"].kept is kept


def test_the_overview_says_what_was_missed():
    """The overview says which bar was missed, beside the ratio to each competitor."""
    told = report(sample("pure", 0, 60), sample("aiohttp", 0, 100), sample("caddy", 0, 50))
    (row,) = [row for row in bars(told).rows if row[0] == "pure: 64 KiB GET, of aiohttp"]
    assert row[1:] == ["0.50", "0.60", "NOT KEPT"]
    table = ratios(told)
    (line,) = table.rows
    cells = dict(zip(table.columns, line, strict=True))
    assert (cells["× aiohttp"], cells["× caddy"], cells["× nginx"]) == ("0.60", "1.20", "–")
