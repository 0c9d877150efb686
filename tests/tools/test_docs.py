"""Generated documents are fresh, complete and true."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from steelyard.config.document import document
from steelyard.config.env_file import VARIABLES
from steelyard.config.example import EXAMPLE
from steelyard.config.keys import every_key, sections
from steelyard.config.load import load_settings
from tools.docs import ROOT, main, with_region


def keys_part() -> list[str]:
    """The lines from the keys to the next chapter."""
    return document().partition("## Keys\n")[2].partition("\n## ")[0].splitlines()


def rows() -> list[tuple[str, str]]:
    """Section and key of each row of the tables."""
    found: list[tuple[str, str]] = []
    section = ""
    for line in keys_part():
        if heading := re.fullmatch(r"### \[(\w+)\]", line):
            section = heading[1]
        if row := re.match(r"\| `(\w+)` \|", line):
            found.append((section, row[1]))
    return found


def test_the_documents_in_the_repository_are_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    """The documents in the repository are those that the code generates."""
    assert main(["--check"]) == 0, capsys.readouterr().err


def test_every_key_has_one_row() -> None:
    """No key is missing from the tables or listed twice."""
    assert Counter(rows()) == Counter((key.section, key.name) for key in every_key())


def test_every_row_is_one_table_row() -> None:
    """No cell breaks its table: six cells, whatever the description holds."""
    lines = [line for line in keys_part() if line.startswith("| `")]
    assert {len(re.split(r"(?<!\\)\|", line)) for line in lines} == {8}


def test_every_variable_of_rustybalancer_has_one_row() -> None:
    """Every variable is listed with the key that it becomes."""
    after = document().partition("## RustyBalancer's variables")[2]
    assert re.findall(r"^\| `(\w+)` \|", after, re.MULTILINE) == list(VARIABLES)


def test_the_example_loads(tmp_path: Path) -> None:
    """The example is a valid file with a part of every section."""
    file = tmp_path / "steelyard.toml"
    file.write_text(EXAMPLE)
    settings = load_settings(file, {}, {})
    assert settings.application.name == "shop"
    assert settings.state == tmp_path / "state"
    assert [name for name in sections() if f"[{name}]" not in EXAMPLE] == []


def test_stale_documents_are_named_and_written_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A check changes nothing; a run writes all stale documents."""
    assert main(["--check"], tmp_path) == 1
    assert "docs/configuration.md" in (told := capsys.readouterr().err)
    assert "docs/architecture.md" in told
    assert list(tmp_path.iterdir()) == []
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0


def test_text_around_a_region_is_kept(tmp_path: Path) -> None:
    """Only the text between the marks is replaced."""
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs/architecture.md"
    first = "above\n<!-- generated: automaton -->\nold\n<!-- end -->\n"
    page.write_text(first + "between\n<!-- generated: rooms -->\nold\n<!-- end -->\nbelow\n")
    main([], tmp_path)
    text = page.read_text()
    assert text.startswith("above\n<!-- generated: automaton -->\n```mermaid\n")
    assert "|\n<!-- end -->\nbetween\n<!-- generated: rooms -->\n```mermaid\n" in text
    assert text.endswith(".\n<!-- end -->\nbelow\n")
    assert "old" not in text


def test_a_page_without_the_region_gets_it_at_its_end() -> None:
    """A page that somebody else began is kept."""
    text = with_region("# Page\n", "x", "content")
    assert text == "# Page\n\n<!-- generated: x -->\ncontent\n<!-- end -->\n"
    assert with_region(text, "x", "content") == text


def test_no_path_of_this_machine_is_published() -> None:
    """Messages in the page name only invented files."""
    assert str(ROOT) not in document()


def test_every_decision_is_in_the_index() -> None:
    """The index names each decision by its number and title."""
    index = (ROOT / "docs/decisions/README.md").read_text()
    decisions = sorted((ROOT / "docs/decisions").glob("0*.md"))
    assert decisions
    for number, file in enumerate(decisions, 1):
        title = file.read_text().splitlines()[0].removeprefix("# ")
        assert title.startswith(f"{number}. "), file
        assert f"* [{title}]({file.name})" in index
