"""The lines on which keys stand."""

from __future__ import annotations

from steelyard.config.lines import line_numbers, line_of

TEXT = '''# a comment
state = "x"

[application] # trailing
command = [
  "python", # min = 7
  "app.py",
]
note = """
[scaling]
min = 3
"""
"name" = 'a'
  [ scaling ]
min = 2
log.level = "info"
gateway = { listen = 80, head = "1K" }
[probe.deep]
path = 1
[[many]]
a = 1
'''


def test_each_name_has_its_line() -> None:
    """Comments, arrays, strings over several lines and inline tables do not confuse the lines."""
    numbers = line_numbers(TEXT)
    assert numbers[("state",)] == 2
    assert numbers[("application",)] == 4
    assert numbers[("application", "command")] == 5
    assert numbers[("application", "note")] == 9
    assert numbers[("application", "name")] == 13
    assert numbers[("scaling",)] == 14
    assert numbers[("scaling", "min")] == 15
    assert numbers[("scaling", "log", "level")] == 16
    assert numbers[("scaling", "gateway", "head")] == 17
    assert numbers[("probe", "deep", "path")] == 19
    assert numbers[("many", "a")] == 21


def test_an_unlisted_name_has_the_line_of_its_table() -> None:
    """A key that was not written gets the line of its section."""
    numbers = line_numbers(TEXT)
    assert line_of(("application", "directory"), numbers) == 4
    assert line_of(("nowhere",), numbers) == 1
