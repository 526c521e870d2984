"""The comparison in the README says what the record says, the record is what happens, and each row leads to its evidence."""

from __future__ import annotations

import json
import re

import anyio
import pytest

from bench.comparison.__main__ import RESULTS, runtime
from bench.comparison.page import COLUMNS, ROWS, page, readme
from bench.comparison.record import python_columns
from tests.files import ROOT

RECORD = json.loads((RESULTS / "comparison.json").read_text(encoding="utf-8"))
AGAIN = "Run `python -m bench.comparison`, and read what changed."
LABEL = re.compile(r"\[.+\]\(([^)#\s]+)#([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def table() -> list[list[str]]:
    """The cells of the table in the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    match = re.search(r"<!-- comparison -->\n\n(.*)\n\n<!-- /comparison -->", text, re.DOTALL)
    assert match
    assert match[1] == readme(RECORD), "Run `python -m bench.comparison --recorded`."
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in match[1].splitlines()[2:]]


def test_every_row_links_to_something_that_exists() -> None:
    """A row leads to the heading of the page with its evidence. Its cells have a short text each, which fits on a line."""
    rows = table()
    assert len(ROWS) == len(rows)
    for label, *cells in rows:
        assert len(COLUMNS) == len(cells)
        assert all(cell and len(cell) <= 20 and "](" not in cell for cell in cells), cells
        link = LABEL.fullmatch(label)
        assert link, label
        headings = HEADING.findall((ROOT / link[1]).read_text(encoding="utf-8"))
        assert link[2] in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}, label


def test_every_link_of_the_page_leads_to_a_file() -> None:
    """The evidence may also be a test or the code of a server."""
    targets = re.findall(r"\]\((?!https?:)([^)#\s]+)", (RESULTS / "comparison.md").read_text(encoding="utf-8"))
    assert len(targets) > 5
    assert [] == [target for target in targets if not (RESULTS / target).is_file()]


def test_the_page_is_made_from_the_record() -> None:
    """The page and the quoted figures are those of the results, also after new figures of `bench.runtime`."""
    again = "Run `python -m bench.comparison --recorded`."
    assert runtime() == RECORD["runtime"], again
    assert page(RECORD) == (RESULTS / "comparison.md").read_text(encoding="utf-8"), again


@pytest.mark.no_server
def test_the_servers_in_python_still_answer_as_recorded() -> None:
    """The texts and the structured content of every failing call are those of the record."""
    for name, column in anyio.run(python_columns).items():
        assert RECORD["columns"][name] == column, AGAIN
