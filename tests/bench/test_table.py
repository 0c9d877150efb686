"""Tables and the document."""

from __future__ import annotations

from steelyard.bench.balancer.page import page
from steelyard.bench.balancer.report import Absence
from steelyard.bench.balancer.table import tables
from steelyard.bench.markdown import write_section
from steelyard.markdown import markdown_table, with_section
from tests.bench.samples import report, sample

TOLD = report(
    sample("nginx", 0, 27.3, case="small"),
    sample("pure", 0, 54.6, case="small", errors=3, foreign=0.4),
    absences=(
        Absence(contender="compiled", reason="not built"),
        Absence(contender="pure", case="websocket", reason="not supported yet"),
    ),
)


def test_a_row_has_the_figures_and_what_makes_them_doubtful():
    """Failed requests and disturbed rounds are in the remarks of a row."""
    small = tables(TOLD)[0]
    assert small.title == "small response, small head"
    row = dict(zip(small.columns, small.rows[1], strict=True))
    assert row[""] == "pure"
    assert (row["CPU µs/request"], row["× nginx"], row["× HAProxy"]) == ("54.6", "2.00", "–")
    assert (row["p50 ms"], row["p99 ms"], row["memory MB"]) == ("1.50", "9.00", "8.0")
    assert row["remarks"] == "3 FAILED, 1 of 1 rounds disturbed"


def test_one_that_does_not_keep_its_connections_is_found_out():
    """A proxy that opened a connection for every tenth request is marked."""
    told = report(
        sample("nginx", 0, 27.3, case="small", reconnects=100),
        sample("pure", 0, 27.3, case="small", reconnects=1),
    )
    assert [row[-1] for row in tables(told)[0].rows] == [
        "",
        "100 new connections to the backend per 1,000 requests",
    ]


def test_who_is_absent_has_a_row_with_the_reason():
    """An absent contender has a row with the reason, in every case or in the one that it
    cannot do.
    """
    small, websocket = tables(TOLD)
    assert (small.rows[0][0], small.rows[0][-1]) == ("compiled", "not built")
    assert [(row[0], row[-1]) for row in websocket.rows] == [
        ("compiled", "not built"),
        ("pure", "not supported yet"),
    ]


def test_every_row_is_as_wide_as_the_head():
    """Every row is as wide as the head, including those of absent contenders."""
    for table in tables(TOLD):
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_the_page_says_how_it_was_measured():
    """The page has date, machine, versions and command, and says that the machine was noisy."""
    text = page(TOLD)
    for part in ("2026-01-01", "a machine", "nginx 1.2", "`steelyard bench balancer`", "noisy"):
        assert part in text
    assert "| pure | 54.6 | – |" in text
    assert "The load average was 0.5 before and 1.5 after" in text
    assert "1 of 2 rounds were disturbed" in text


def test_a_bar_in_a_cell_does_not_end_it():
    """A vertical bar in a cell is replaced, as the last words of a program may hold one."""
    assert markdown_table(("", "n", "r"), [("a", "1", "x | y")]).endswith("| a | 1 | x / y |")


def test_a_section_is_exchanged_in_its_place(tmp_path):
    """A section is replaced in its place, and other sections stay as they are."""
    file = tmp_path / "docs" / "benchmarks.md"
    write_section(file, "balancer", "old")
    write_section(file, "tail", "tail")
    write_section(file, "balancer", "new")
    text = file.read_text()
    assert "old" not in text
    assert text.index("new") < text.index("tail")
    assert with_section(text, "bench: balancer", "new") == text
